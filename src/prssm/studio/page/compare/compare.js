// The third step: chosen models over chosen rows, seen from several sides.
import { get, post } from "../tools/api.js";
import { card, fill, h, refill, select, table } from "../tools/dom.js";
import { clear, embed } from "../tools/figures.js";
import { attempt } from "../tools/messages.js";
import { known, looking, onChange } from "../tools/store.js";
import { whatIf } from "./what_if.js";

const VIEWS = {
  runs: ["Runs", "Each model runs over the rows. It sees the first ones (grey) and then the inputs alone."],
  residuals: ["Residuals", "Errors one step ahead. A model that has learnt all there is leaves errors without any pattern."],
  behaviour: ["Responses", "The learnt system near the mean of its training inputs. Bands hold 95 of 100 systems that the data allow."],
  states: ["States", "What each model remembers from row to row, in its own units."],
  slices: ["Transition", "What each model learnt: its next states over one state or input. Marks below show where the data were."],
  whatif: ["What if", "Type or draw an input, and see what the models say the system would do."],
};
const chosen = { models: null, view: "runs", begin: null, end: null, ahead: "", kind: "step" };

export function showCompare(content, go) {
  const usable = () => known.models.filter((model) => !model.error);
  const side = h("div", { className: "stack" });
  const result = h("div", { className: "stack" });
  const tabs = h("div", { className: "tabs", role: "group", "aria-label": "What is shown" });
  const below = h("div", {}); // stays while the result is computed, and so does the focus in it
  let latest = 0;
  let asking = null;
  let about = null;

  fill(content, h("h1", {}, "Compare models"),
    h("p", { className: "soft" }, "Choose models and rows; every view shows the same choice."),
    h("div", { className: "columns" }, side, h("div", { className: "stack" }, tabs, below, result)));

  async function start() {
    if (!usable().length) {
      fill(side);
      fill(tabs);
      fill(below);
      return fill(result, h("section", { className: "card empty" }, h("h2", {}, "No model yet"),
        h("p", {}, "Train one first; a linear model takes seconds."),
        h("button", { type: "button", onclick: () => go("train") }, "Go to training")));
    }
    if (!chosen.models) chosen.models = usable().slice(-3).map((model) => model.id);
    await chooseLog(looking.log);
    return undefined;
  }

  async function chooseLog(id) {
    looking.log = id;
    about = id ? await attempt(() => get(`/api/logs/${id}`)) : null;
    if (looking.log !== id) return undefined; // another one was chosen meanwhile
    const test = about?.choice.test[0];
    const other = about?.choice.test_log;
    if (other && chosen.begin === null && known.logs.some((log) => log.id === other)) {
      chosen.begin = 0;
      return chooseLog(other);
    }
    [chosen.begin, chosen.end] = test || [0, about?.rows ?? null];
    drawSide();
    drawTabs();
    return show();
  }

  function drawSide() {
    const edge = (name, words) => h("label", {}, `${words} `, h("input", {
      type: "number", min: 0, max: about?.rows, value: chosen[name] ?? "",
      onchange: (event) => { chosen[name] = event.target.value === "" ? null : Math.round(Number(event.target.value)); show(); },
    }));
    const part = (words, rows) => h("button", {
      type: "button", onclick: () => { [chosen.begin, chosen.end] = rows; drawSide(); show(); },
    }, words);
    const { choice, rows } = about ?? { choice: { training: [], test: [] }, rows: 0 };
    refill(side,
      card("Models", h("ul", { className: "plain" }, usable().map((model) => h("li", {}, h("label", {}, h("input", {
        type: "checkbox", checked: chosen.models.includes(model.id),
        onchange: (event) => {
          chosen.models = chosen.models.filter((id) => id !== model.id).concat(event.target.checked ? [model.id] : []);
          show();
        },
      }), ` ${model.id} `, h("span", { className: "soft small" }, `${model.inputs.join(", ")} → ${model.outputs.join(", ")}`)))))),
      card("Rows",
        h("div", { className: "row" }, select(known.logs.map((log) => [log.id, log.name]), looking.log,
          (value) => { chosen.begin = 0; chooseLog(value); }, { "aria-label": "Log" })),
        h("div", { className: "row" }, edge("begin", "from row"), edge("end", "up to row")),
        h("div", { className: "row" }, part("All rows", [0, rows]),
          choice.training.length ? part("Training", choice.training[0]) : null,
          choice.test.length ? part("Test", choice.test[0]) : null)),
      card("Kind of run",
        h("div", { className: "row" }, h("label", {}, "Rows ahead (empty: free run) ", h("input", {
          type: "number", min: 1, value: chosen.ahead,
          onchange: (event) => { chosen.ahead = event.target.value; show(); },
        })))));
  }

  function drawTabs() {
    fill(tabs, Object.entries(VIEWS).map(([view, [words]]) => h("button", {
      type: "button", "aria-pressed": String(view === chosen.view), "data-view": view,
      onclick: () => { chosen.view = view; drawTabs(); show(); tabs.querySelector(`[data-view=${view}]`).focus(); },
    }, words)));
  }

  async function show() {
    latest += 1;
    const mine = latest;
    asking?.abort();
    asking = new AbortController();
    leaveFigures();
    delete result.dataset.view;
    refill(below, chosen.view === "behaviour" ? kinds() : null);
    if (!chosen.models.length) {
      return fill(result, h("section", { className: "card empty" }, h("p", {}, "Choose one or more models on the left.")));
    }
    const words = h("p", { className: "soft" }, VIEWS[chosen.view][1]);
    if (chosen.view === "whatif") {
      fill(result, words, await whatIf(chosen.models));
      result.dataset.view = "whatif";
      return undefined;
    }
    fill(result, words, h("p", { className: "waiting", role: "status" }, "Computing …"));
    const found = await attempt(() => post(`/api/compare/${chosen.view}`, {
      models: chosen.models, log: looking.log, begin: chosen.begin, end: chosen.end, kind: chosen.kind,
      horizon: chosen.view === "runs" && chosen.ahead ? Number(chosen.ahead) : null,
    }, asking.signal));
    if (mine !== latest) return undefined;
    if (!found) return fill(result, words);
    return draw(words, found);
  }

  async function draw(words, found) {
    const places = found.figures.map(() => h("div", { className: "picture" }));
    fill(result, words,
      found.table ? card("Scores", table(found.table.header, found.table.rows, "Scores of the runs")) : null,
      found.lines.length ? h("ul", { className: "lines" }, found.lines.map((line) => h("li", { className: line.kind }, line.text))) : null,
      found.figures.map((figure, at) => card(figure.title || "", h("figure", {}, places[at]))));
    for (const [at, figure] of found.figures.entries()) await embed(places[at], figure);
    result.dataset.view = chosen.view;
  }

  function kinds() {
    const all = { step: "Step", impulse: "Impulse", static: "Static curve", poles: "Poles" };
    return h("div", { className: "tabs", role: "group", "aria-label": "Kind of response" },
      Object.entries(all).map(([kind, words]) => h("button", {
        type: "button", "aria-pressed": String(kind === chosen.kind), onclick: () => { chosen.kind = kind; show(); },
      }, words)));
  }

  function leaveFigures() {
    for (const place of result.querySelectorAll(".picture")) clear(place);
  }

  start();
  const stop = onChange(() => { if (!side.children.length) start(); });
  return () => { stop(); asking?.abort(); leaveFigures(); };
}
