// What is done to the data before training: steps in their order, with a look at what they do.
import { get, post } from "../tools/api.js";
import { card, field, fill, h, refill, select } from "../tools/dom.js";
import { clear, embed } from "../tools/figures.js";
import { attempt } from "../tools/messages.js";

let known = null;

export function preprocessingCard(shared) {
  const { log } = shared;
  const list = h("ol", { className: "plain" });
  const adding = h("div", {});
  const notes = h("p", { className: "soft small" });
  const place = h("div", { className: "picture" });
  const looked = h("figure", {}, place, notes);
  let wanted = "";
  let drawn = "";

  async function show() {
    known ??= (await attempt(() => get("/api/steps")))?.steps ?? null;
    if (!known) return;
    const { preprocess } = log.choice;
    refill(list, preprocess.map((step, at) => h("li", { className: "row" }, h("code", {}, step),
      h("button", {
        type: "button", "aria-label": `Remove ${step}`,
        onclick: () => { preprocess.splice(at, 1); shared.changed(false); },
      }, "Remove"))));
    if (!wanted) { wanted = known[0].word; add(); }
    await look();
  }

  function add() {
    const step = known.find((one) => one.word === wanted);
    const value = h("input", { type: "text", placeholder: "as usual" });
    refill(adding,
      h("form", { className: "row end", onsubmit: (event) => { event.preventDefault(); take(value.value.trim()); } },
        field("Step", select(known.map((one) => [one.word, one.word]), wanted, (word) => { wanted = word; add(); })),
        field("Value", value), h("button", { type: "submit" }, "Add")),
      h("p", { className: "soft small" }, `${step.says}; written as ${step.form}.`));
  }

  async function take(value) {
    const step = value ? `${wanted}=${value}` : wanted;
    const tried = [...log.choice.preprocess, step];
    const found = await attempt(() => post(`/api/logs/${log.id}/preview`, { preprocess: tried }));
    if (!found) return;
    log.choice.preprocess = tried;
    shared.changed(false);
  }

  async function look() {
    const steps = log.choice.preprocess;
    const key = JSON.stringify(log.choice);
    if (!steps.length || !log.choice.outputs.length) {
      drawn = "";
      looked.hidden = true;
      clear(place);
      return;
    }
    if (key === drawn) return;
    drawn = key;
    const found = await attempt(() => post(`/api/logs/${log.id}/preview`, { preprocess: steps }));
    if (!found) return;
    looked.hidden = false;
    notes.textContent = `${found.notes.join("; ")}.`;
    await embed(place, found.figure);
    place.dataset.steps = String(steps.length);
  }

  return {
    element: card("Preprocessing", h("p", { className: "soft small" },
      "Steps work in this order. They are saved with the model, and new data pass them too."),
    list, adding, looked),
    show,
    leave: () => clear(place),
  };
}
