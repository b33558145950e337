
const ORDER = [...VERDICTS, "unread", "absent"];
const [FIRST, SECOND] = DATA.names;
const total = DATA.flips.reduce((sum, kind) => sum + kind.count, 0);

function about() {
  document.getElementById("about").textContent =
    `${FIRST} → ${SECOND} · ${count(total, "verdict flips", "verdicts flip")} in ${number(DATA.flipped_traces)} of ${count(DATA.traces, "trace")}`;
}

function overview() {
  return make("section", { class: "section", "aria-labelledby": "overview" },
    make("h2", { id: "overview" }, "Overview"),
    make("div", { class: "cards" }, sidesCard(), matrixCard(), numbersCard(), DATA.changes.length > 0 && changesCard()));
}

function sidesCard() {
  const bars = (context) => DATA.names.map((name, n) => [make("span", {}, n ? "second" : "first"), shareBar(DATA.sides[n][context])]);
  return card("Verdicts of the claims in which a relation was read", 4,
    make("p", { class: "note" }, `First: ${FIRST}. Second: ${SECOND}.`),
    ["assumed", "grounded"].map((context) => [make("h4", { class: "sides" }, context), make("div", { class: "stack" }, bars(context))]),
    make("ul", { class: "legend" }, VERDICTS.map((verdict) => make("li", { class: verdict }, make("span", { class: "swatch" }), NAMES[verdict]))));
}

function matrixCard() {
  const cells = new Map(DATA.conclusions.map((cell) => [`${cell.before}>${cell.after}`, cell.count]));
  const used = ORDER.filter((verdict) => DATA.conclusions.some((cell) => cell.before === verdict || cell.after === verdict));
  return card("Verdict of the conclusion: first by row, second by column", 5,
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Conclusions" }, make("table", { class: "matrix" },
      make("thead", {}, make("tr", {}, make("td", {}), used.map((verdict) => make("th", { scope: "col" }, tag(verdict))))),
      make("tbody", {}, used.map((before) => make("tr", {}, make("th", { scope: "row" }, tag(before)), used.map((after) => {
        const found = cells.get(`${before}>${after}`) || 0;
        return make("td", { class: before === after ? "same" : found ? "flip" : "" }, found ? number(found) : "·");
      })))))));
}

function numbersCard() {
  const rows = [
    ["traces", (side) => number(side.traces)],
    ["feasible scenes", (side) => percent(side.feasible, side.traces)],
    ["claims", (side) => number(side.claims)],
    ["relation read", (side) => percent(side.parsed, side.claims)],
    ["with a contradiction", (side) => percent(side.conflicts.reduce((sum, [claim, traces]) => sum + (claim ? traces : 0), 0), side.traces)],
    ...Object.entries({ symbolizability: "mean symbolizability", unknown_rate: "mean unknown rate", determinacy: "mean determinacy", applicability: "mean applicability" })
      .map(([name, text]) => [text, (side) => decimal(side.means[name])]),
    ["mean Constraint-Rule", (side) => decimal(side.means.constraint_rule)],
  ];
  return card("Side by side", 3,
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Side by side" }, make("table", {},
      make("thead", {}, make("tr", {}, make("td", {}), make("th", { scope: "col" }, "first"), make("th", { scope: "col" }, "second"))),
      make("tbody", {}, rows.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), DATA.sides.map((side) => make("td", {}, value(side)))))))),
    DATA.notes.map((note) => make("p", { class: "note" }, note)));
}

function changesCard() {
  return card("Facts and rules that differ", 12, make("ul", { class: "changes" }, DATA.changes.map((change) => make("li", {}, change))));
}

const kindOf = (flip) => `${flip.before}>${flip.after}>${flip.grounded}`;

function flips() {
  const SIZE = 50;
  let found = DATA.listed;
  const search = make("input", { type: "search", placeholder: "id, claim, message", oninput: later(120, () => sift()) });
  const kinds = chips("Flip", DATA.flips.map((kind) => [`${kind.before}>${kind.after}>${kind.only_grounded}`,
    `${NAMES[kind.before]} → ${NAMES[kind.after]}${kind.only_grounded ? ", by the scene alone" : ""} ${number(kind.count)}`, kind.after]), () => sift());
  const list = make("ol", { class: "flips" });
  const pages = pager(SIZE, (from, to) => list.replaceChildren(...found.slice(from, to).map(item)));

  function sift() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = DATA.listed.filter((flip) => {
      if (kinds.chosen.size && !kinds.chosen.has(kindOf(flip))) return false;
      const text = [flip.id, flip.text, flip.was, flip.now].join("\n").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    pages.set(found.length, total, "flips");
  }

  function item(flip) {
    return make("li", {},
      make("div", { class: "turn" }, tag(flip.before), "→", tag(flip.after),
        flip.grounded && make("span", { class: "tag" }, "by the scene alone"),
        make("strong", {}, flip.id), make("span", { class: "soft" }, flip.claim ? `claim ${flip.claim}` : "", flip.file ? ` · ${flip.file}:${flip.line}` : "")),
      make("p", { class: "said" }, flip.text),
      make("dl", {}, make("dt", {}, "was"), make("dd", {}, flip.was || NAMES[flip.before]), make("dt", {}, "now"), make("dd", {}, flip.now || NAMES[flip.after])));
  }

  sift();
  return make("section", { class: "section", "aria-labelledby": "flips" },
    make("h2", { id: "flips" }, "Flips"),
    total > DATA.listed.length && make("p", { class: "soft" }, `The first ${number(DATA.listed.length)} of ${number(total)} are listed.`),
    DATA.listed.length ? make("div", { class: "card finder still" },
      make("form", { class: "filters", role: "search", "aria-label": "Flips", onsubmit: (event) => event.preventDefault() },
        make("label", { class: "field" }, "Search", search), kinds.node),
      pages.node, list) : make("p", { class: "soft" }, "No verdict flips."));
}

about();
document.getElementById("main").append(overview(), flips());
ready();
