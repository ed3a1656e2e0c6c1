// The what-if pane: a shape for each input, and the response of the models.
import { get, post } from "../tools/api.js";
import { card, fill, h, number, refill, select, within } from "../tools/dom.js";
import { embed } from "../tools/figures.js";
import { attempt } from "../tools/messages.js";
import { saveAnswer } from "../tools/save.js";
import { drawingPane } from "./drawing.js";

const KINDS = [["step", "step"], ["ramp", "ramp"], ["sine", "sine"], ["points", "drawn points"], ["values", "typed values"]];
const FIELDS = {
  step: [["before", "from"], ["after", "to"], ["at", "at row"]],
  ramp: [["before", "from"], ["after", "to"], ["at", "from row"], ["end", "up to row"]],
  sine: [["mean", "around"], ["amplitude", "by"], ["period", "rows of a period"]],
};
const WAIT = 250; // milliseconds without a change, before the models are asked
const kept = { rows: 200, inputs: {} };

export async function whatIf(models) {
  const usual = await attempt(() => get(`/api/what-if/${encodeURIComponent(models[0])}`));
  if (!usual) return h("p", {});
  if (!usual.inputs.length) return h("p", { className: "empty" }, "This model has no inputs that could be changed.");
  const panes = h("div", { className: "stack" });
  const lines = h("ul", { className: "lines" });
  const place = h("div", { className: "picture" });
  let timer = 0;
  let asking = null;

  for (const input of usual.inputs) kept.inputs[input.name] ??= first(input);

  // Within what training has covered: a step from a quarter of the range to three quarters.
  function first(input) {
    const at = (share) => Number(within(input.low + share * (input.high - input.low), input.low, input.high));
    return {
      kind: "step", before: at(0.25), after: at(0.75), at: 20, end: 60,
      mean: at(0.5), amplitude: Number(number(0.25 * (input.high - input.low), 3)), period: 50,
      points: [[0, at(0.25)], [60, at(0.25)], [100, at(0.75)], [180, at(0.5)]],
      values: String(at(0.5)),
    };
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(respond, WAIT);
  }

  async function respond() {
    asking?.abort();
    asking = new AbortController();
    const found = await attempt(() => post("/api/what-if", { models, rows: kept.rows, inputs: kept.inputs }, asking.signal));
    if (!found) return;
    fill(lines, found.lines.map((line) => h("li", { className: line.kind }, line.text)));
    for (const figure of found.figures) await embed(place, figure);
    place.dataset.draws = String(Number(place.dataset.draws || 0) + 1);
  }

  function pane(input) {
    const shape = kept.inputs[input.name];
    const body = h("div", {});
    const numberField = (name, words) => h("label", {}, `${words} `, h("input", {
      type: "number", step: "any", value: shape[name], "aria-label": `${input.name}: ${words}`,
      onchange: (event) => { shape[name] = Number(event.target.value); later(); },
    }));
    const controls = {
      points: () => drawingPane({ name: input.name, shape, rows: () => kept.rows, low: input.low, high: input.high, changed: later }),
      values: () => h("label", {}, "One number a row; the last one is held", h("textarea", {
        rows: 3, value: shape.values, "aria-label": `${input.name}: values`,
        onchange: (event) => { shape.values = event.target.value; later(); },
      })),
    };
    fill(body,
      h("div", { className: "row" }, h("strong", {}, input.name), select(KINDS, shape.kind,
        (value) => { shape.kind = value; drawPanes(); later(); }, { "aria-label": `Shape of ${input.name}` }),
      ...(FIELDS[shape.kind] || []).map(([name, words]) => numberField(name, words))),
      controls[shape.kind]?.(),
      h("p", { className: "soft small" }, `Training covered ${within(input.low, input.low, input.high)} to ${within(input.high, input.low, input.high)}.`));
    return body;
  }

  function drawPanes() {
    refill(panes, usual.inputs.map(pane));
  }

  drawPanes();
  const rows = h("input", {
    type: "number", min: 2, max: 20000, value: kept.rows,
    onchange: () => { kept.rows = Math.round(Number(rows.value)); later(); },
  });
  setTimeout(respond, 0);
  return h("div", { className: "stack" },
    card("Inputs", h("div", { className: "row" }, h("label", {}, "Rows ", rows),
      h("button", { type: "button", onclick: () => attempt(() => saveAnswer("/api/what-if.csv", { models, rows: kept.rows, inputs: kept.inputs }, "what-if.csv")) }, "Save the inputs as CSV")), panes),
    lines, card("Response", h("figure", {}, place)));
}
