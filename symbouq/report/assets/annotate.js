
const CHOICES = [["1", "1, right"], ["0", "0, wrong"], ["", "cannot say"]];
const STORE = `symbouq labels ${DATA.key}`;
const given = kept();
const total = DATA.traces.reduce((sum, trace) => sum + trace.steps.length, 0);

/** Labels by claim, of an earlier visit too, where the browser keeps them. */
function kept() {
  try {
    return new Map(JSON.parse(localStorage.getItem(STORE) || "[]"));
  } catch {
    return new Map();
  }
}

function keep() {
  try {
    localStorage.setItem(STORE, JSON.stringify([...given]));
  } catch {
    // The link has them all the same.
  }
}

const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

/** The labels as a table: what was not looked at has no row. */
function csv() {
  const rows = DATA.traces.flatMap((trace, t) => trace.steps.flatMap((_, s) =>
    given.has(`${t} ${s}`) ? [`${quoted(trace.id)},${s + 1},${given.get(`${t} ${s}`)}`] : []));
  return ["id,claim,label", ...rows, ""].join("\n");
}

function update() {
  document.getElementById("about").textContent =
    `${number(given.size)} of ${count(total, "step")} in ${count(DATA.traces.length, "trace")}`;
  document.getElementById("save").href = `data:text/csv;charset=utf-8,${encodeURIComponent(csv())}`;
}

function step(text, t, s) {
  const name = `${t} ${s}`;
  const choices = CHOICES.map(([value, said]) => make("label", {},
    make("input", { type: "radio", name, value, checked: given.get(name) === value,
      onchange: () => { given.set(name, value); keep(); update(); } }), ` ${said} `));
  return make("li", {}, make("fieldset", {}, make("legend", {}, `${s + 1}. ${text}`), choices));
}

function asked(trace, t) {
  return make("section", { class: "card", "aria-labelledby": `trace${t}` },
    make("h2", { id: `trace${t}` }, `Trace ${t + 1}`),
    make("p", {}, make("b", {}, "Scene: "), trace.scene),
    trace.question && make("p", {}, make("b", {}, "Question: "), trace.question),
    make("ol", { class: "steps" }, trace.steps.map((text, s) => step(text, t, s))));
}

document.getElementById("main").append(
  make("p", {}, DATA.instruction),
  ...DATA.traces.map(asked),
  make("p", {}, make("a", { id: "save", download: "labels.csv" }, "Save the labels")));
update();
ready();
