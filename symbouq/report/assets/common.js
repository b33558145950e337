"use strict";
// What both pages are made of. Text from traces reaches the page as text nodes only.

const DATA = JSON.parse(document.getElementById("data").textContent);

const VERDICTS = ["entailed", "contradicted", "unknown", "not-evaluable"];
const NAMES = {
  entailed: "entailed", contradicted: "contradicted", unknown: "unknown", "not-evaluable": "not evaluable",
  unread: "nothing read", absent: "no such claim", feasible: "feasible scene", contradictory: "contradictory scene",
};
const GLYPHS = { entailed: "✓", contradicted: "✕", unknown: "?", "not-evaluable": "–", unread: "·" };

/** An element with properties (`class`, `on...`, attributes) and children, strings as text. */
function make(name, properties, ...children) {
  return dressed(document.createElement(name), properties, children);
}

/** The same for SVG. */
function draw(name, properties, ...children) {
  return dressed(document.createElementNS("http://www.w3.org/2000/svg", name), properties, children);
}

function dressed(node, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const number = (value) => value.toLocaleString("en-US");
const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;
const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "–");
const decimal = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
const listed = (items, last = "and") =>
  items.length > 1 ? `${items.slice(0, -1).join(", ")} ${last} ${items[items.length - 1]}` : items.join("");

/** A verdict as a small coloured tag, which says it in words too. */
function tag(verdict, ...more) {
  return make("span", { class: `tag ${verdict}` }, GLYPHS[verdict] ? `${GLYPHS[verdict]} ` : "", NAMES[verdict], ...more);
}

/** A card of the overview. */
function card(title, width, ...content) {
  return make("section", { class: `card w${width}` }, make("h3", {}, title), ...content);
}

/** Names and numbers, large. */
function figures(pairs) {
  return make("dl", { class: "numbers" }, pairs.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

/** Verdict shares of parsed claims as one bar. */
function shareBar(counts) {
  const total = VERDICTS.reduce((sum, verdict) => sum + (counts[verdict] || 0), 0);
  const said = VERDICTS.map((verdict) => `${NAMES[verdict]} ${percent(counts[verdict] || 0, total)}`);
  const bar = make("div", { class: "bar", role: "img", "aria-label": said.join(", ") });
  for (const verdict of VERDICTS) {
    if (!counts[verdict]) continue;
    const part = make("span", { class: verdict, title: `${NAMES[verdict]}: ${count(counts[verdict], "claim")}, ${percent(counts[verdict], total)}` });
    part.style.flexGrow = counts[verdict];
    bar.append(part);
  }
  return bar;
}

/** Columns of a histogram; `titles` say what each one is. */
function columns(values, titles, label, kind = "") {
  const most = Math.max(1, ...values);
  const box = make("div", { class: `columns ${kind}`, role: "img", "aria-label": `${label}. ${titles.map((t, n) => `${t}: ${values[n]}`).join(", ")}` });
  values.forEach((value, n) => {
    const column = make("span", { class: value ? "some" : "", title: `${titles[n]}: ${count(value, "trace")}` });
    column.style.height = `${(100 * value) / most}%`;
    box.append(column);
  });
  return box;
}

/** A list that is one stop of the Tab key: arrows move, Enter or a click chooses. */
function listbox(list, { active = () => {}, choose = () => {}, follow = false } = {}) {
  const options = () => [...list.children];
  const go = (option) => {
    for (const other of options()) other.tabIndex = other === option ? 0 : -1;
    option.focus();
  };
  list.addEventListener("focusin", (event) => {
    const option = event.target.closest("[role=option]");
    for (const other of options()) other.tabIndex = other === option ? 0 : -1;
    active(options().indexOf(option), "focus");
  });
  list.addEventListener("focusout", () => active(-1, "focus"));
  list.addEventListener("pointerover", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) active(options().indexOf(option), "hover");
  });
  list.addEventListener("pointerleave", () => active(-1, "hover"));
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option && !String(getSelection())) { go(option); choose(options().indexOf(option)); }
  });
  list.addEventListener("keydown", (event) => {
    const all = options();
    const here = all.indexOf(event.target);
    const moves = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: all.length - 1 };
    if (event.key in moves) {
      const option = all[Math.max(0, Math.min(all.length - 1, moves[event.key]))];
      go(option);
      if (follow) choose(all.indexOf(option));
    } else if (event.key === "Enter" || event.key === " ") {
      choose(here);
    } else return;
    event.preventDefault();
  });
  if (list.firstElementChild) list.firstElementChild.tabIndex = 0;
}

/** A set of chips of which any may be chosen; `options` are [value, text, class]. */
function chips(name, options, changed) {
  const chosen = new Set();
  const node = make("fieldset", {}, make("legend", {}, name), make("div", { class: "chips" }, options.map(([value, text, kind]) =>
    make("label", { class: `chip ${kind || ""}` },
      make("input", { type: "checkbox", value, onchange: (event) => { chosen[event.target.checked ? "add" : "delete"](value); changed(); } }),
      make("span", {}, text)))));
  return { node, chosen };
}

/** A labelled choice; `options` are [value, text]. */
function choice(label, options, changed) {
  const select = make("select", { onchange: changed }, options.map(([value, text]) => make("option", { value }, text)));
  return { node: make("label", { class: "field" }, label, select), select };
}

/** Buttons to page through, and where one is. */
function pager(size, turned) {
  const place = make("p", { role: "status" });
  const back = make("button", { type: "button", "aria-label": "Previous page", onclick: () => turn(-1) }, "←");
  const on = make("button", { type: "button", "aria-label": "Next page", onclick: () => turn(1) }, "→");
  let page = 0, total = 0, all = 0, what = "";
  function turn(by) { page += by; show(); turned(page * size, (page + 1) * size); }
  function show() {
    const last = Math.min(total, (page + 1) * size);
    const where = total ? `${number(page * size + 1)}–${number(last)} of ${number(total)}` : "none";
    place.textContent = `${where} ${what}${total < all ? ` (${number(all)} in all)` : ""}`;
    back.disabled = page === 0;
    on.disabled = last >= total;
  }
  return {
    node: make("div", { class: "pager" }, place, back, on),
    set(found, whole, name) { [page, total, all, what] = [0, found, whole, name]; show(); turned(0, size); },
    /** Turns to the page that holds an entry. */
    reveal(index) { if (Math.floor(index / size) !== page) { page = Math.floor(index / size); show(); turned(page * size, (page + 1) * size); } },
  };
}

const later = (wait, act) => {
  let timer;
  return () => { clearTimeout(timer); timer = setTimeout(act, wait); };
};

/** Says that the page can be used, and when. */
function ready() {
  document.documentElement.dataset.ready = Math.round(performance.now());
}
