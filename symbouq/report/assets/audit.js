
// Overview ---------------------------------------------------------------------------------

const CELLS = ["upper left", "above", "upper right", "left", "same place", "right", "lower left", "below", "lower right"];

function about() {
  const said = DATA.about;
  const wrong = DATA.overview.conflicts.reduce((sum, [claim, traces]) => sum + (claim ? traces : 0), 0);
  const parts = [
    count(DATA.overview.traces, "trace"),
    `${number(wrong)} with a contradiction`,
    said.file && (said.file.length > 3 ? count(said.file.length, "file") : said.file.join(", ")),
    said.profile && `${said.profile.length > 1 ? "profiles" : "profile"} ${said.profile.join(", ")}`,
    said.ontology && `ontology ${said.ontology.join(", ")}`,
    said.context && `${said.context.join(", ")} context`,
  ];
  document.getElementById("about").textContent = parts.filter(Boolean).join(" · ");
}

function overview() {
  const all = DATA.overview;
  return make("section", { class: "section", "aria-labelledby": "overview" },
    make("h2", { id: "overview" }, "Overview"),
    make("div", { class: "cards" },
      verdictCard(all), profileCard(all), conflictCard(all),
      all.reliability && reliabilityCard(all.reliability),
      Object.keys(DATA.models).length > 0 && modelCard()));
}

function verdictCard(all) {
  const share = (context, name) => [make("span", {}, name), shareBar(all[context])];
  return card("Verdicts of the claims in which a relation was read", 4,
    figures([
      ["traces", number(all.traces)],
      ["claims", number(all.claims)],
      ["relation read", percent(all.parsed, all.claims)],
      ["feasible scenes", percent(all.feasible, all.traces)],
    ]),
    make("div", { class: "stack" }, share("assumed", "assumed"), share("grounded", "grounded")),
    make("ul", { class: "legend" }, VERDICTS.map((verdict) =>
      make("li", { class: verdict }, make("span", { class: "swatch" }), `${NAMES[verdict]} `,
        make("span", { class: "soft" }, `${percent(all.assumed[verdict] || 0, all.parsed)} / ${percent(all.grounded[verdict] || 0, all.parsed)}`)))),
    make("p", { class: "note" }, "Assumed: after all earlier claims. Grounded: by the scene alone."));
}

function profileCard(all) {
  const names = { symbolizability: "symbolizability", unknown_rate: "unknown rate", determinacy: "determinacy", applicability: "applicability" };
  const titles = [...Array(10).keys()].map((n) => `${n / 10} to ${(n + 1) / 10}`);
  return card("Determinacy Profile: traces by share of claims", 5,
    make("div", { class: "histograms" }, Object.entries(all.histograms).map(([name, bins]) =>
      make("div", { class: "histogram" }, make("h4", {}, names[name]), columns(bins, titles, names[name]),
        make("div", { class: "scale", "aria-hidden": "true" }, make("span", {}, "0"), make("span", {}, "0.5"), make("span", {}, "1"))))),
    make("p", { class: "note" }, "Symbolizability and applicability are shares of all claims; unknown rate and determinacy of those in which a relation was read."));
}

function conflictCard(all) {
  const LAST = 12;
  const bins = Array(LAST).fill(0);
  let none = 0;
  for (const [claim, traces] of all.conflicts) {
    if (claim === 0) none += traces;
    else bins[Math.min(claim, LAST) - 1] += traces;
  }
  const some = bins.reduce((sum, n) => sum + n, 0);
  const titles = bins.map((_, n) => (n === LAST - 1 ? `claim ${LAST} or later` : `claim ${n + 1}`));
  return card("Where the first contradiction is", 3,
    figures([["with one", number(some)], ["without", number(none)], ["in the scene", number(all.traces - all.feasible)]]),
    columns(bins, titles, "Traces by claim of the first contradiction", "conflict"),
    make("div", { class: "scale each", "aria-hidden": "true" }, bins.map((_, n) => make("span", {}, n === LAST - 1 ? `${LAST}+` : n + 1))),
    make("p", { class: "note" }, "Number of the first claim that cannot hold with its premises."));
}

function plotArea(x, y, label, ...content) {
  const [left, top, width, height] = [34, 8, 210, 150];
  const at = (u, v) => [left + u * width, top + (1 - v) * height];
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return draw("svg", { class: "plot", viewBox: "0 0 256 196", role: "img", "aria-label": label },
    ticks.map((t) => [
      draw("line", { class: "grid", x1: left, x2: left + width, y1: at(0, t)[1], y2: at(0, t)[1] }),
      draw("text", { x: left - 5, y: at(0, t)[1] + 3.5, "text-anchor": "end" }, String(t)),
      draw("text", { x: at(t, 0)[0], y: top + height + 13, "text-anchor": "middle" }, String(t)),
    ]),
    content.map((piece) => piece(at)),
    draw("path", { class: "axis", d: `M${left},${top}V${top + height}H${left + width}` }),
    draw("text", { x: left + width / 2, y: top + height + 29, "text-anchor": "middle" }, x),
    draw("text", { transform: `translate(9 ${top + height / 2}) rotate(-90)`, "text-anchor": "middle" }, y));
}

function reliabilityCard(found) {
  const most = Math.max(...found.bins.map((bin) => bin.count));
  const filled = found.bins.filter((bin) => bin.count);
  const said = filled.map((bin) => `score ${bin.confidence.toFixed(2)}: ${(100 * bin.accuracy).toFixed(0)} % right of ${bin.count}`);
  const diagram = plotArea("Constraint-Rule", "share right", `Reliability diagram. ${said.join("; ")}`,
    (at) => filled.map((bin) => {
      const [x, y] = at(bin.low, (0.98 * bin.count) / most), [end, floor] = at(bin.high, 0);
      return draw("rect", { class: "mass", x: x + 1, y, width: end - x - 2, height: floor - y });
    }),
    (at) => draw("path", { class: "ideal", d: `M${at(0, 0)}L${at(1, 1)}` }),
    (at) => draw("path", { class: "curve", d: `M${filled.map((bin) => at(bin.confidence, bin.accuracy)).join("L")}` }),
    (at) => filled.map((bin, n) => {
      const [cx, cy] = at(bin.confidence, bin.accuracy);
      return draw("circle", { class: "dot", cx, cy, r: 3.5 }, draw("title", {}, said[n]));
    }));
  const total = found.curve[found.curve.length - 1][1];
  const curve = plotArea("coverage", "risk", `Risk-coverage curve: risk ${total.toFixed(2)} at full coverage`,
    (at) => draw("path", { class: "ideal", d: `M${at(0, total)}L${at(1, total)}` }),
    (at) => draw("path", { class: "curve", d: `M${found.curve.map(([u, v]) => at(u, v)).join("L")}` }));
  return card("Constraint-Rule against the labels", Object.keys(DATA.models).length ? 5 : 12,
    figures([["labelled", number(found.count)], ["right", percent(found.right, found.count)], ["AUROC", decimal(found.auroc)], ["AURC", decimal(found.aurc)], ["ECE", decimal(found.ece)]]),
    make("div", { class: "plots" },
      make("div", {}, make("h4", {}, "Reliability"), diagram),
      make("div", {}, make("h4", {}, "Risk and coverage"), curve)),
    make("p", { class: "note" }, "Bars behind the reliability diagram: how many traces have such a score. Dashed: as good as the score says; risk when all are answered."));
}

function modelCard() {
  const heads = ["model", "traces", "right", "relation read", ...VERDICTS.map((v) => NAMES[v]), "contradictory", "AUROC"];
  const rows = Object.entries(DATA.models).map(([name, found]) => {
    const conflicts = found.conflicts.reduce((sum, [claim, traces]) => sum + (claim ? traces : 0), 0);
    return [name, number(found.traces), found.reliability ? percent(found.reliability.right, found.reliability.count) : "–",
      percent(found.parsed, found.claims), ...VERDICTS.map((v) => percent(found.assumed[v] || 0, found.parsed)),
      percent(conflicts, found.traces), decimal(found.reliability && found.reliability.auroc)];
  });
  return card("Models", DATA.overview.reliability ? 7 : 12, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Models" }, make("table", {},
    make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, rows.map(([first, ...rest]) => make("tr", {}, make("th", { scope: "row" }, first), rest.map((cell) => make("td", {}, cell))))))));
}

// Sheets are decoded in batches, when they are needed --------------------------------------

const blocks = document.getElementsByClassName("sheets");
const decoded = new Map();

function batch(n) {
  if (!decoded.has(n)) {
    if (decoded.size >= 8) decoded.delete(decoded.keys().next().value);
    decoded.set(n, JSON.parse(blocks[n].textContent));
  }
  return decoded.get(n);
}

const sheetOf = (index) => batch(Math.floor(index / DATA.batch))[index % DATA.batch];

/** What a search looks through, in lower case, for every trace; made when first needed. */
let texts = null;

function searchable() {
  texts ??= [...Array(blocks.length).keys()].flatMap((n) => batch(n).map((sheet, k) => [
    DATA.rows[n * DATA.batch + k].id, sheet.question,
    ...[...sheet.sentences, ...sheet.claims].map((line) => line.parts.map(([text]) => text).join("") || line.relations.map(spelled).join("; ")),
  ].join("\n").toLowerCase()));
  return texts;
}

const spelled = (relation) => `${relation.subject} is ${relation.words} ${relation.object}`;

// The list ---------------------------------------------------------------------------------

const last = (row) => row.verdicts[row.verdicts.length - 1] || "unread";
/** How bad a trace is: a claim is contradicted, the scene is, the answer is wrong, nothing is decided. */
const badness = (row) => (row.verdicts.includes("contradicted") ? 4 : !row.feasible ? 3 : row.label === false ? 2
  : row.verdicts.includes("entailed") ? 0 : 1);
const SORTS = {
  worst: ["worst first", (a, b) => badness(b) - badness(a)],
  file: ["order of the file", () => 0],
  score: ["lowest score first", (a, b) => a.score - b.score],
  sure: ["highest score first", (a, b) => b.score - a.score],
  first: ["earliest contradiction first", (a, b) => (a.first || Infinity) - (b.first || Infinity) || 0],
  determinacy: ["least determinate first", (a, b) => a.determinacy - b.determinacy],
  claims: ["most claims first", (a, b) => b.verdicts.length - a.verdicts.length],
  id: ["id", (a, b) => a.id.localeCompare(b.id, "en", { numeric: true })],
};
const HAS = {
  conflict: ["a contradiction", (row) => row.first > 0],
  conditional: ["a conditional verdict", (row) => row.conditional > 0],
  scene: ["a contradictory scene", (row) => !row.feasible],
  unread: ["an unread claim", (row) => row.verdicts.includes("unread")],
};
const LABELS = { right: ["right", (row) => row.label === true], wrong: ["wrong", (row) => row.label === false] };

function traces() {
  const SIZE = 50;
  const rows = DATA.rows;
  let found = rows.map((_, n) => n);
  let current = -1;
  const named = new Map();
  for (const row of rows) named.set(row.id, (named.get(row.id) || 0) + 1);
  const title = (row) => (named.get(row.id) > 1 && row.place ? `${row.id} · ${row.place}` : row.id);

  const tally = (test) => number(rows.filter(test).length);
  const search = make("input", { type: "search", placeholder: "id, scene, question, claims", oninput: later(120, () => sift()) });
  const conclusion = chips("Conclusion", [...VERDICTS, "unread"].filter((v) => rows.some((row) => last(row) === v))
    .map((v) => [v, `${GLYPHS[v]} ${NAMES[v]} ${tally((row) => last(row) === v)}`, v]), () => sift());
  const present = (tests) => Object.entries(tests).filter(([, [, test]]) => rows.some(test));
  const has = chips("Has", present(HAS).map(([name, [text, test]]) => [name, `${text} ${tally(test)}`]), () => sift());
  const label = chips("Answer", present(LABELS).map(([name, [text, test]]) => [name, `${text} ${tally(test)}`, name === "right" ? "entailed" : "contradicted"]), () => sift());
  const several = ["model", "profile", "file"].map((field) => [field, [...new Set(rows.map((row) => row[field]).filter((value) => value !== null))]])
    .filter(([, values]) => values.length > 1);
  const fields = several.map(([field, values]) => [field, choice(field, [["", "all"], ...values.map((value, n) => [n, value])], () => sift()), values]);
  const sort = choice("Sort by", Object.entries(SORTS).map(([name, [text]]) => [name, text]), () => sift());

  const list = make("ol", { class: "traces", role: "listbox", "aria-label": "Traces" });
  const none = make("p", { class: "nothing", hidden: true }, "No trace is like that.");
  const pages = pager(SIZE, (from, to) => fill(from, to));
  const sheet = make("article", { class: "card sheet", "aria-label": "Trace" });
  const split = make("div", { class: "split" },
    make("div", { class: "card finder" },
      make("form", { class: "filters", role: "search", "aria-label": "Traces", onsubmit: (event) => event.preventDefault() },
        make("label", { class: "field" }, "Search", search),
        conclusion.node,
        has.node.querySelector("input") && has.node,
        label.node.querySelector("input") && label.node,
        make("div", { class: "pair" }, sort.node, fields.map(([, box]) => box.node))),
      pages.node, none, list),
    sheet);

  function sift() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const within = words.length ? searchable() : null;
    const wanted = fields.filter(([, box]) => box.select.value !== "").map(([field, box, values]) => [field, values[box.select.value]]);
    found = [];
    rows.forEach((row, n) => {
      if (conclusion.chosen.size && !conclusion.chosen.has(last(row))) return;
      for (const name of has.chosen) if (!HAS[name][1](row)) return;
      if (label.chosen.size && ![...label.chosen].some((name) => LABELS[name][1](row))) return;
      for (const [field, value] of wanted) if (row[field] !== value) return;
      for (const word of words) if (!within[n].includes(word)) return;
      found.push(n);
    });
    const order = SORTS[sort.select.value][1];
    found.sort((a, b) => order(rows[a], rows[b]) || a - b);
    pages.set(found.length, DATA.overview.traces, "traces");
    none.hidden = found.length > 0;
    list.hidden = !found.length;
    if (current < 0) return; // at the start, when nothing is shown yet
    if (found.length) open(found.includes(current) ? current : found[0], false);
    else sheet.replaceChildren(make("p", { class: "soft" }, "No trace is like that."));
  }

  function fill(from, to) {
    list.replaceChildren(...found.slice(from, to).map((n) => option(n)));
    const chosen = list.querySelector('[aria-selected="true"]') || list.firstElementChild;
    if (chosen) chosen.tabIndex = 0;
    list.scrollTop = 0;
  }

  function option(n) {
    const row = rows[n];
    const marks = [
      row.place && make("span", { class: "mark", title: row.place }, `line ${row.place.split(":").pop()}`),
      row.label !== null && make("span", { class: `mark ${row.label ? "right" : "wrong"}` }, row.label ? "right" : "wrong"),
      !row.feasible && make("span", { class: "mark" }, "scene contradicts itself"),
      row.conditional > 0 && make("span", { class: "mark", title: "conditional verdicts" }, `${row.conditional} conditional`),
    ];
    return make("li", { role: "option", tabindex: "-1", "aria-selected": String(n === current), "data-index": n },
      make("div", { class: "head" }, make("span", { class: "name", title: title(row) }, title(row)), marks,
        make("span", { class: "mark", title: "Constraint-Rule" }, row.score.toFixed(2))),
      row.why && make("p", { class: "why" }, row.why),
      make("div", { class: "foot" }, strip(row)));
  }

  function strip(row) {
    const MOST = 40;
    const shown = row.verdicts.length > MOST ? [...row.verdicts.slice(0, MOST - 1), row.verdicts[row.verdicts.length - 1]] : row.verdicts;
    const counts = new Map();
    for (const verdict of row.verdicts) counts.set(verdict, (counts.get(verdict) || 0) + 1);
    const said = [...counts].map(([verdict, n]) => `${n} ${NAMES[verdict]}`).join(", ");
    return make("span", { class: "strip", role: "img", "aria-label": `claims: ${said}` },
      shown.map((verdict) => make("span", { class: verdict, "aria-hidden": "true" }, GLYPHS[verdict])));
  }

  function open(n, entered) {
    current = n;
    for (const item of list.children) item.setAttribute("aria-selected", String(Number(item.dataset.index) === n));
    const at = found.indexOf(n);
    const step = (by) => {
      const next = found[at + by];
      pages.reveal(at + by);
      open(next, true);
      list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
    };
    const moves = make("div", { class: "moves" },
      make("button", { type: "button", class: "back", onclick: () => { split.classList.remove("open"); list.querySelector('[aria-selected="true"]')?.focus(); } }, "All traces"),
      make("button", { type: "button", "aria-label": "Previous trace", disabled: at <= 0, onclick: () => { step(-1); refocus("Previous trace"); } }, "↑"),
      make("button", { type: "button", "aria-label": "Next trace", disabled: at < 0 || at >= found.length - 1, onclick: () => { step(1); refocus("Next trace"); } }, "↓"));
    sheet.replaceChildren(...trace(rows[n], sheetOf(n), moves));
    if (entered) split.classList.add("open");
    history.replaceState(null, "", `#${new URLSearchParams({ trace: rows[n].id, n })}`);
  }

  function refocus(name) { sheet.querySelector(`button[aria-label="${name}"]:not(:disabled)`)?.focus(); }

  listbox(list, { choose: (k) => open(Number(list.children[k].dataset.index), true), follow: matchMedia("(min-width: 821px)").matches });
  sift();
  const wanted = new URLSearchParams(location.hash.slice(1));
  const asked = rows[wanted.get("n")]?.id === wanted.get("trace") ? Number(wanted.get("n")) : rows.findIndex((row) => row.id === wanted.get("trace"));
  if (asked >= 0) { pages.reveal(found.indexOf(asked)); open(asked, true); } else if (rows.length) open(found[0], false);
  else sheet.replaceChildren(make("p", { class: "soft" }, "There is no trace."));

  const cut = DATA.overview.traces - rows.length;
  return make("section", { class: "section", "aria-labelledby": "traces" },
    make("h2", { id: "traces" }, "Traces"),
    cut > 0 && make("p", { class: "soft" }, `The first ${number(rows.length)} of ${count(DATA.overview.traces, "trace")} are listed; the overview counts all.`),
    split);
}

// One trace --------------------------------------------------------------------------------

function trace(row, sheet, moves) {
  const claims = sheet.claims;
  const scene = make("ol", { class: "lines scene", role: "listbox", "aria-label": "Scene sentences" },
    sheet.sentences.map((line, n) => sentence(line, n, sheet)));
  const steps = make("ol", { class: "lines claims", role: "listbox", "aria-label": "Claims" },
    claims.map((claim, n) => claimItem(claim, n, sheet)));
  const view = pictured(sheet);

  let pinned = -1, over = -1, focused = -1, overScene = -1, focusedScene = -1;
  function light() {
    const about = over >= 0 ? over : focused >= 0 ? focused : -1;
    const sentenceAbout = overScene >= 0 ? overScene : focusedScene;
    const claim = about >= 0 ? about : sentenceAbout >= 0 ? -1 : pinned;
    const premises = new Set(claim >= 0 ? premisesOf(claims[claim], sheet) : []);
    if (claim < 0 && sentenceAbout >= 0) claims.forEach((c, n) => c.premises.includes(`scene:${sentenceAbout + 1}`) && premises.add(`claim:${n + 1}`));
    const colour = claim >= 0 ? claims[claim].verdict : null;
    for (const [list, source] of [[scene, "scene"], [steps, "claim"]]) [...list.children].forEach((item, n) => {
      const lit = premises.has(`${source}:${n + 1}`);
      item.classList.toggle("lit", lit);
      item.style.setProperty("--lit", lit && colour ? `var(--${colour})` : "var(--accent)");
      item.style.setProperty("--lit-tint", lit && colour ? `var(--${colour}-tint)` : "var(--accent-tint)");
      item.classList.toggle("active", source === "claim" ? n === claim : n === sentenceAbout && claim < 0);
    });
    view.show(claim);
  }
  const watch = (list, hovered, held) => listbox(list, {
    active: (n, how) => { how === "hover" ? hovered(n) : held(n); light(); },
    choose: (n) => {
      if (list !== steps) return;
      pinned = pinned === n ? -1 : n;
      [...steps.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === pinned)));
      light();
    },
  });
  watch(scene, (n) => { overScene = n; }, (n) => { focusedScene = n; });
  watch(steps, (n) => { over = n; }, (n) => { focused = n; });
  // What went wrong first is shown at once; else the conclusion.
  const start = claims.findIndex((claim) => claim.first_conflict);
  pinned = start >= 0 ? start : claims.length - 1;
  steps.children[pinned]?.setAttribute("aria-selected", "true");
  light();

  const facts = [row.file === null ? null : sheet.source, row.model, `profile ${row.profile}`, `${sheet.context} context`];
  return [
    make("header", {},
      make("div", {}, make("h2", {}, row.id), make("p", { class: "soft" }, facts.filter(Boolean).join(" · "))),
      row.label !== null && make("span", { class: `tag ${row.label ? "entailed" : "contradicted"}` }, row.label ? "✓ right answer" : "✕ wrong answer"),
      moves),
    make("dl", { class: "shares" }, [
      ["Constraint-Rule", row.score], ["symbolizability", sheet.shares.symbolizability], ["unknown rate", sheet.shares.unknown_rate],
      ["determinacy", sheet.shares.determinacy], ["discounted", sheet.discounted.determinacy], ["applicability", sheet.shares.applicability],
    ].map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value.toFixed(2))))),
    make("div", { class: "body" },
      make("div", { class: "text" },
        make("h3", {}, "Scene"), sheet.sentences.length ? scene : make("p", { class: "soft" }, "Nothing is said."),
        sheet.message && make("p", { class: "hint contradicted" }, make("span", { class: "tag contradicted" }, sheet.message)),
        sheet.question && [make("h3", {}, "Question"), make("p", { class: "said" }, sheet.question)],
        sheet.answer !== null && make("p", { class: "hint" }, `Right answer: ${sheet.answer}`),
        make("h3", {}, "Claims"), claims.length ? steps : make("p", { class: "soft" }, "There is none."),
        make("p", { class: "hint" }, "Point at a claim, or move with the arrow keys, to see what it rests on; click or press Enter to keep it.")),
      view.node),
  ];
}

/** A claim's premises; where a contradictory scene blocks it, those that clash. */
const premisesOf = (claim, sheet) => (claim.verdict === "not-evaluable" && !sheet.feasible ? sheet.clash : claim.premises);

function wordsOf(line) {
  const text = line.parts.length ? line.parts : [[line.relations.map(spelled).join("; "), []]];
  return make("span", { class: "said" }, text.map(([words, numbers]) => numbers.length
    ? make("u", { title: numbers.map((n) => spelled(line.relations[n])).join("; ") }, words) : words));
}

function readAs(line) {
  if (!line.parts.length) return [];
  return line.relations.map((relation) => make("span", { class: "relation" }, `${relation.subject} `, make("b", {}, relation.relation.replaceAll("_", " ")), ` ${relation.object}`,
    relation.confidence !== undefined && ` (confidence ${relation.confidence})`));
}

function sentence(line, n, sheet) {
  return make("li", { role: "option", tabindex: "-1", "aria-selected": "false", class: sheet.clash.includes(`scene:${n + 1}`) ? "clash" : "" },
    make("span", { class: "number" }, n + 1), wordsOf(line),
    make("span", { class: "detail" }, line.relations.length ? readAs(line) : "nothing read"));
}

function claimItem(claim, n, sheet) {
  const verdict = claim.relations.length || claim.verdict !== "unknown" || claim.reason === "open" ? claim.verdict : "unread";
  const empty = !claim.parts.length && !claim.relations.length;
  const regions = sheet.picture.regions[n] || [];
  return make("li", { role: "option", tabindex: "-1", "aria-selected": "false", class: `${verdict} ${claim.type === "conclusion" ? "final" : ""}` },
    make("span", { class: "number" }, n + 1),
    empty ? make("span", { class: "said soft" }, "(no answer)") : wordsOf(claim),
    make("span", { class: "side" }, regions.filter(Boolean).slice(0, 2).map((region) => compass(region, sheet.picture.extent)), tag(verdict)),
    make("span", { class: "detail" },
      // The message says what was read, but not how surely, nor all of several relations.
      (claim.relations.length > 1 || claim.relations.some((relation) => relation.confidence !== undefined)) && readAs(claim),
      claim.type === "conclusion" && make("span", { class: "tag" }, "conclusion"),
      claim.stance !== "asserted" && make("span", { class: "tag" }, claim.stance),
      claim.stance === "asserted" && claim.reason && claim.reason !== "open" && make("span", { class: "tag" }, claim.reason),
      claim.conditional && make("span", { class: `tag outline ${claim.grounded_verdict}` }, `conditional: ${NAMES[claim.grounded_verdict]} by the scene alone`),
      !claim.conditional && claim.relations.length > 0 && claim.verdict !== claim.grounded_verdict && make("span", { class: `tag outline ${claim.grounded_verdict}` }, `${NAMES[claim.grounded_verdict]} by the scene alone`),
      claim.first_conflict && make("span", { class: "tag contradicted" }, "first contradiction"),
      claim.repair_cost > 0 && make("span", { class: "tag" }, claim.repair_cost_exact === null ? "dropping earlier claims won't fix it" : `fixed by dropping ${claim.repair_cost_exact}`)),
    make("span", { class: "message" }, claim.message));
}

// Where a claim puts its subject, seen from its object -------------------------------------

function sayCells(bits, extent) {
  const names = CELLS.map((name, n) => (extent && n === 4 ? "overlapping" : name)).filter((_, n) => bits[n] === "1");
  return names.length === CELLS.length ? "anywhere" : listed(names, "or") || "nowhere";
}

function compass(region, extent) {
  const label = `claimed: ${sayCells(region.claimed, extent)}; by the scene alone: ${sayCells(region.possible, extent)}`;
  const cells = CELLS.map((_, n) => ({ n, claimed: region.claimed[n] === "1", possible: region.possible[n] === "1" }))
    .sort((a, b) => a.claimed - b.claimed); // outlines go above their neighbours
  return draw("svg", { class: "compass", width: 40, height: 40, viewBox: "0 0 40 40", role: "img", "aria-label": label },
    draw("title", {}, label),
    cells.map(({ n, claimed, possible }) => draw("rect", {
      x: 2 + 12 * (n % 3), y: 2 + 12 * Math.floor(n / 3), width: 12, height: 12, class: `${possible ? "possible" : ""} ${claimed ? "claimed" : ""}`,
    })));
}

// Pictures ---------------------------------------------------------------------------------

const ruler = document.createElement("canvas").getContext("2d");
ruler.font = "12.5px system-ui, sans-serif";
const short = (text, most = 24) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);
const widthOf = (text) => Math.ceil(ruler.measureText(text).width);
let drawings = 0;

/** One layout of a scene, which shows what each claim makes of it. */
function pictured(sheet) {
  const id = `tip${++drawings}`;
  const { things, groups } = sheet.picture;
  const canvas = make("div", { class: "canvas", tabindex: "0", role: "region", "aria-label": "Layout" });
  const cycle = make("div", { class: "canvas clash", hidden: true, tabindex: "0", role: "region", "aria-label": "Conflict" });
  const caption = make("div", { class: "caption", role: "status" });
  const title = make("h3", {}, !sheet.feasible ? "The scene contradicts itself" : things.length ? "One layout of the scene, of possibly many" : "The scene places nothing");
  const hint = make("p", { class: "hint" }, "Arrows lead to the thing that is placed. What nothing places together stands apart.");
  const node = make("section", { class: "picture", "aria-label": "Picture" }, title, canvas, caption, cycle, hint);
  const plan = things.length ? plotted(things, groups, sheet.picture.extent) : null;
  const stated = sheet.sentences.flatMap((line, n) => line.relations.map((relation) => ({ ...relation, source: `scene:${n + 1}` })));
  const claimed = sheet.claims.flatMap((claim, n) => claim.relations.map((relation) => ({ ...relation, source: `claim:${n + 1}` })));
  const index = new Map(things.map((thing, n) => [thing.name, n]));

  function show(n) {
    const claim = n >= 0 ? sheet.claims[n] : null;
    const premises = new Set(claim ? premisesOf(claim, sheet) : sheet.feasible ? [] : sheet.clash);
    const conflict = [...stated, ...claimed].filter((relation) => premises.has(relation.source));
    const wrong = claim && claim.verdict === "contradicted" ? claim.relations.map((relation) => ({ ...relation, source: `claim:${n + 1}`, claim: true })) : [];
    const colour = claim ? (claim.relations.length ? claim.verdict : "unread") : "accent";
    node.style.setProperty("--lit", `var(--${colour})`);
    node.style.setProperty("--lit-tint", `var(--${colour}-tint)`);
    canvas.hidden = !plan;
    if (plan) canvas.replaceChildren(plan.draw(id, stated, claim, n, premises, index, sheet.picture.regions[n] || []));
    const circular = !sheet.feasible ? stated.filter((relation) => sheet.clash.includes(relation.source)) : wrong.length ? [...conflict, ...wrong] : [];
    cycle.hidden = !circular.length;
    cycle.replaceChildren(...(cycle.hidden ? [] : [make("h3", {}, "What cannot hold together"), ring(circular, id)]));
    caption.replaceChildren(...captions(sheet, claim, n));
  }
  return { node, show };
}

function captions(sheet, claim, n) {
  if (!claim) return [];
  const regions = (sheet.picture.regions[n] || []).map((region, k) => [region, claim.relations[k]]).filter(([region]) => region);
  return [
    make("p", {}, make("strong", {}, `Claim ${n + 1}: `), claim.relations.map(spelled).join("; ") || "nothing read"),
    ...regions.flatMap(([region, relation]) => [
      make("p", {}, make("span", { class: "key claimed" }), `claimed, seen from ${relation.object}: ${sayCells(region.claimed, sheet.picture.extent)}`),
      region.object === null || region.subject === null
        ? make("p", {}, `The scene does not name ${region.object === null ? relation.object : relation.subject}.`)
        : make("p", {}, make("span", { class: "key possible" }), `the scene alone allows: ${sayCells(region.possible, sheet.picture.extent)}`),
    ]),
  ];
}

const PAD = 28; // room around a group, for what lies beyond its things

/** A cell for each pair of coordinates; what lies in a thing is drawn in its box, wherever that is. */
function plotted(things, groups, extent) {
  const own = (n) => things[n].x !== null || things[n].y !== null;
  // Of points that both have a place of their own, neither is where the other is.
  const host = (n) => (things[n].in !== null && (extent || !own(n) || !own(things[n].in)) ? things[n].in : null);
  const drawn = new Set(groups.flat());
  const kids = things.map((_, n) => things.map((_thing, k) => k).filter((k) => host(k) === n && drawn.has(k)));
  const root = (n) => host(n) === null;
  const spot = (n, axis) => things[n][axis]?.[0] ?? kids[n].map((k) => spot(k, axis)).find((value) => value !== null) ?? null;
  const apart = new Set(things.map((thing) => thing.other)).size > 1; // on other axes
  const label = (n) => short(things[n].name) + (apart && things[n].other ? ` (${things[n].other})` : "");

  function sized(n) {
    const inner = kids[n].map(sized);
    const lines = [];
    const heights = [...new Set(kids[n].map((k) => spot(k, "y")))].sort((a, b) => b - a);
    // From above, each line from the left; without places, three in a line.
    for (const y of heights) {
      const line = inner.filter((box) => spot(box.n, "y") === y).sort((a, b) => spot(a.n, "x") - spot(b.n, "x"));
      const most = spot(n, "x") === null ? 3 : 8;
      for (let k = 0; k < line.length; k += most) lines.push(line.slice(k, k + most));
    }
    const width = Math.max(widthOf(label(n)) + 18, ...lines.map((line) => line.reduce((sum, box) => sum + box.width + 8, 8)));
    const height = lines.reduce((sum, line) => sum + Math.max(...line.map((box) => box.height)) + 8, inner.length ? 24 : 26);
    return { n, width, height, lines };
  }

  const places = new Map(); // thing to rectangle
  const cells = new Map(); // thing to the rectangle of its cell, and the group's
  const frames = [];

  function put(box, x, y) {
    places.set(box.n, { x, y, width: box.width, height: box.height, whole: box.lines.length > 0 });
    cells.set(box.n, { x, y, width: box.width, height: box.height, frame: frames[frames.length - 1] });
    let top = y + 24;
    for (const line of box.lines) {
      let left = x + 8;
      for (const inner of line) { put(inner, left, top); left += inner.width + 8; }
      top += Math.max(...line.map((inner) => inner.height)) + 8;
    }
  }

  function lines(values, sizes, least) {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const all = high - low <= 8 ? [...Array(high - low + 1).keys()].map((n) => low + n) : [...new Set(values)].sort((a, b) => a - b);
    const size = new Map(all.map((value) => [value, least]));
    values.forEach((value, n) => size.set(value, Math.max(size.get(value), sizes[n])));
    return [all, size];
  }

  let left = 0, top = 0, deep = 0, wide = 0;
  for (const group of groups) {
    const roots = group.filter(root);
    if (!roots.length) continue;
    const stacks = new Map();
    const placed = roots.some((n) => spot(n, "x") !== null || spot(n, "y") !== null);
    roots.forEach((n, k) => {
      // What has no coordinates stands in rows of three.
      const [x, y] = placed ? [spot(n, "x") ?? 0, spot(n, "y") ?? 0] : [k % 3, -Math.floor(k / 3)];
      const key = `${x},${y}`;
      if (!stacks.has(key)) stacks.set(key, { x, y, boxes: [] });
      stacks.get(key).boxes.push(sized(n));
    });
    const all = [...stacks.values()];
    const [xs, widths] = lines(all.map((s) => s.x), all.map((s) => Math.max(...s.boxes.map((b) => b.width)) + 30), 40);
    const [ys, heights] = lines(all.map((s) => s.y), all.map((s) => s.boxes.reduce((sum, b) => sum + b.height + 4, 26)), 40);
    const pad = placed ? PAD : 2;
    const width = xs.reduce((sum, x) => sum + widths.get(x), 2 * pad);
    const height = ys.reduce((sum, y) => sum + heights.get(y), 2 * pad);
    if (left && left + width > 350) { left = 0; top += deep + 12; deep = 0; }
    const frame = { x: left, y: top, width, height, lone: !placed };
    frames.push(frame);
    const edge = (list, size, value, start) => list.slice(0, list.indexOf(value)).reduce((sum, other) => sum + size.get(other), start);
    const downward = [...ys].reverse();
    for (const stack of all) {
      const x = edge(xs, widths, stack.x, left + pad), y = edge(downward, heights, stack.y, top + pad);
      const cell = { x, y, width: widths.get(stack.x), height: heights.get(stack.y), frame };
      const used = stack.boxes.reduce((sum, box) => sum + box.height + 4, -4);
      let here = y + (cell.height - used) / 2;
      for (const box of stack.boxes) {
        put(box, x + (cell.width - box.width) / 2, here);
        here += box.height + 4;
        cells.set(box.n, cell);
      }
    }
    left += width + 12; deep = Math.max(deep, height); wide = Math.max(wide, left - 12);
  }
  return planned(things, places, cells, frames, wide, top + deep, label);
}

/** Draws things at their places, with what a claim and its premises say of them. */
function planned(things, places, cells, frames, width, height, label) {
  function drawPlan(id, stated, claim, number_, premises, index, regions) {
    const lit = new Set(), edges = [];
    for (const relation of [...stated, ...(claim ? claim.relations.map((r) => ({ ...r, source: "own" })) : [])]) {
      const [a, b] = [index.get(relation.subject), index.get(relation.object)];
      const strong = premises.has(relation.source), own = relation.source === "own";
      if (strong || own) for (const n of [a, b]) if (n !== undefined) lit.add(n);
      if (a === undefined || b === undefined || a === b || !places.has(a) || !places.has(b)) continue;
      if (encloses(places.get(a), places.get(b)) || encloses(places.get(b), places.get(a))) continue;
      if (!strong && !own && things.length > 16) continue;
      edges.push({ a, b, strong, own });
    }
    edges.sort((a, b) => a.strong + 2 * a.own - b.strong - 2 * b.own);
    const shaded = regions.filter((region) => region && region.object !== null && cells.has(region.object)).slice(0, 1)
      .map((region) => overlay(region, cells.get(region.object), id));
    const order = [...places.keys()].sort((a, b) => places.get(b).width * places.get(b).height - places.get(a).width * places.get(a).height);
    const said = things.filter((_, n) => places.has(n)).map((thing) => `${thing.name}${thing.x || thing.y ? ` at ${["x", "y"].filter((axis) => thing[axis]).map((axis) => `${axis} ${thing[axis][0]}${thing[axis][0] === thing[axis][1] ? "" : ` to ${thing[axis][1]}`}`).join(", ")}` : ""}${thing.in === null ? "" : ` in ${things[thing.in].name}`}`).join("; ");
    const svg = draw("svg", { width: width + 4, viewBox: `-2 -2 ${width + 4} ${height + 4}`, role: "img", "aria-label": `Layout: ${said}` },
      draw("defs", {}, tip(`${id}a`, "tip"), tip(`${id}b`, "tip lit")),
      frames.filter((frame) => frames.length > 1 && !frame.lone).map((frame) => draw("rect", { class: "group", x: frame.x, y: frame.y, width: frame.width, height: frame.height })),
      shaded,
      order.filter((n) => places.get(n).whole).map((n) => box(n)),
      edges.map(({ a, b, strong, own }) => edge(places.get(b), places.get(a), `edge ${own ? "claim" : strong ? "lit" : ""}`, `${id}${strong || own ? "b" : "a"}`)),
      order.filter((n) => !places.get(n).whole).map((n) => box(n)));
    svg.style.minWidth = `${Math.round(0.5 * width)}px`; // as small as can be read
    return svg;

    function box(n) {
      const place = places.get(n);
      return draw("g", { class: `named ${lit.has(n) ? "lit" : ""}` },
        draw("title", {}, things[n].name),
        draw("rect", { class: `thing ${place.whole ? "whole" : ""}`, x: place.x, y: place.y, width: place.width, height: place.height, rx: place.whole ? 6 : 5 }),
        draw("text", { x: place.whole ? place.x + 8 : place.x + place.width / 2, y: place.whole ? place.y + 16 : place.y + place.height / 2 + 4.5, "text-anchor": place.whole ? "start" : "middle" }, label(n)));
    }
  }
  return { draw: drawPlan };
}

const encloses = (a, b) => a.x <= b.x && a.y <= b.y && a.x + a.width >= b.x + b.width && a.y + a.height >= b.y + b.height;

const tip = (id, kind) => draw("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" }, draw("path", { class: kind, d: "M0,0L8,4L0,8z" }));

/** The nine cells around a thing: where the scene allows another one, where it is claimed. */
function overlay(region, cell, id) {
  const { frame } = cell;
  const xs = [frame.x, cell.x, cell.x + cell.width, frame.x + frame.width];
  const ys = [frame.y, cell.y, cell.y + cell.height, frame.y + frame.height];
  const around = (n, grow) => ({ x: xs[n % 3] + grow, y: ys[Math.floor(n / 3)] + grow, width: xs[(n % 3) + 1] - xs[n % 3] - 2 * grow, height: ys[Math.floor(n / 3) + 1] - ys[Math.floor(n / 3)] - 2 * grow });
  const which = (bits) => [...bits].flatMap((bit, n) => (bit === "1" ? [n] : []));
  return draw("g", { "data-region": id },
    which(region.possible).map((n) => draw("rect", { class: "possible", ...around(n, 0) })),
    which(region.claimed).map((n) => draw("rect", { class: "claimed-fill", ...around(n, 0) })),
    outlines(which(region.claimed)).map(([first, end]) => {
      const [a, b] = [around(first, 1), around(end, 1)];
      return draw("rect", { class: "claimed", x: a.x, y: a.y, width: b.x + b.width - a.x, height: b.y + b.height - a.y });
    }));
}

/** Cells as rectangles, by their first and last cells: one, where together they make one. */
function outlines(cells) {
  const [columns, rows] = [(n) => n % 3, (n) => Math.floor(n / 3)].map((of) => [Math.min(...cells.map(of)), Math.max(...cells.map(of))]);
  const whole = cells.length === (columns[1] - columns[0] + 1) * (rows[1] - rows[0] + 1);
  return whole && cells.length ? [[3 * rows[0] + columns[0], 3 * rows[1] + columns[1]]] : cells.map((n) => [n, n]);
}

/** A line from one rectangle to another, from border to border. */
function edge(from, to, kind, tipId) {
  const centre = (r) => [r.x + r.width / 2, r.y + r.height / 2];
  const [[ax, ay], [bx, by]] = [centre(from), centre(to)];
  const border = (r, dx, dy) => {
    const reach = Math.min(dx ? (r.width / 2 + 2) / Math.abs(dx) : Infinity, dy ? (r.height / 2 + 2) / Math.abs(dy) : Infinity);
    return Number.isFinite(reach) ? reach : 0;
  };
  const s = border(from, bx - ax, by - ay), t = border(to, ax - bx, ay - by);
  if (s + t >= 1) return null;
  return draw("line", { class: kind, x1: ax + s * (bx - ax), y1: ay + s * (by - ay), x2: bx + t * (ax - bx), y2: by + t * (ay - by), "marker-end": `url(#${tipId})` });
}

/** Relations that cannot hold together, as a ring of things with labelled arrows. */
function ring(relations, id) {
  const names = [...new Set(relations.flatMap((relation) => [relation.object, relation.subject]))];
  const texts = names.map((name) => short(name, 18));
  const widths = texts.map((text) => widthOf(text) + 18);
  const labels = relations.map((relation) => `${relation.relation.replaceAll("_", " ")} · ${relation.source.replace(":", " ")}`);
  const across = Math.max(78, names.length * 26), down = Math.max(56, names.length * 20);
  const side = Math.max(...labels.map(widthOf), ...widths) * 0.92 + 24;
  const centre = [across + side, down + 44];
  // Two things stand side by side, more in a circle from the top.
  const first = names.length === 2 ? Math.PI : -Math.PI / 2;
  const angle = (n) => first + (2 * Math.PI * n) / names.length;
  const at = (n) => [centre[0] + across * Math.cos(angle(n)), centre[1] + down * Math.sin(angle(n))];
  const rects = names.map((_, n) => { const [x, y] = at(n); return { x: x - widths[n] / 2, y: y - 13, width: widths[n], height: 26 }; });
  const seen = new Map();
  const arrows = relations.map((relation, k) => {
    const [a, b] = [names.indexOf(relation.object), names.indexOf(relation.subject)];
    const pair = [Math.min(a, b), Math.max(a, b)].join();
    const nth = seen.get(pair) || 0;
    seen.set(pair, nth + 1);
    const kind = `cycle ${relation.claim ? "claim" : ""}`;
    if (a === b) {
      const r = rects[a];
      return [draw("path", { class: kind, d: `M${r.x + 10},${r.y}C${r.x - 14},${r.y - 30} ${r.x + r.width + 14},${r.y - 30} ${r.x + r.width - 10},${r.y}`, "marker-end": `url(#${id}c)` }),
        draw("text", { class: "label cycle-text", x: r.x + r.width / 2, y: r.y - 26, "text-anchor": "middle" }, labels[k])];
    }
    const [p, q] = [at(a), at(b)];
    const mid = [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2];
    // Outwards from the middle of the ring; through it, where the things face each other.
    let out = [mid[0] - centre[0], mid[1] - centre[1]];
    if (Math.hypot(...out) < 1) out = [0, nth % 2 ? 1 : -1];
    const length = Math.hypot(...out);
    const bend = (names.length === 2 ? 40 : 22) + 30 * (names.length === 2 ? Math.floor(nth / 2) : nth);
    const turn = [out[0] / length, out[1] / length];
    const c = [mid[0] + bend * turn[0], mid[1] + bend * turn[1]];
    const start = toBorder(rects[a], c), end = toBorder(rects[b], c);
    const top = [(start[0] + 2 * c[0] + end[0]) / 4, (start[1] + 2 * c[1] + end[1]) / 4];
    const anchor = turn[0] > 0.3 ? "start" : turn[0] < -0.3 ? "end" : "middle";
    return [draw("path", { class: kind, d: `M${start}Q${c} ${end}`, "marker-end": `url(#${id}c)` }),
      draw("text", { class: "label cycle-text", x: top[0] + 6 * turn[0], y: top[1] + 4 + 10 * turn[1], "text-anchor": anchor }, labels[k])];
  });
  const ys = [...rects.flatMap((r) => [r.y, r.y + r.height])];
  const [width, upper, lower] = [2 * centre[0], Math.min(...ys) - 34, Math.max(...ys) + 40];
  const shrink = Math.min(1, 360 / width);
  const said = relations.map((relation) => `${spelled(relation)} (${relation.source.replace(":", " ")})`).join("; ");
  return draw("svg", { width: width * shrink, height: (lower - upper) * shrink, viewBox: `0 ${upper} ${width} ${lower - upper}`, role: "img", "aria-label": `Conflict: ${said}` },
    draw("defs", {}, tip(`${id}c`, "cycle-tip")),
    arrows.map(([path]) => path),
    names.map((name, n) => draw("g", { class: "named" }, draw("title", {}, name), draw("rect", { class: "thing", ...rects[n], rx: 5 }), draw("text", { x: at(n)[0], y: at(n)[1] + 4.5, "text-anchor": "middle" }, texts[n]))),
    arrows.map(([, text]) => text));
}

function toBorder(rect, point) {
  const [x, y] = [rect.x + rect.width / 2, rect.y + rect.height / 2];
  const [dx, dy] = [point[0] - x, point[1] - y];
  const reach = Math.min(dx ? (rect.width / 2 + 3) / Math.abs(dx) : Infinity, dy ? (rect.height / 2 + 3) / Math.abs(dy) : Infinity, 1);
  return [x + reach * dx, y + reach * dy];
}

about();
document.getElementById("main").append(traces(), overview());
ready();
