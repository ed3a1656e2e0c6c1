// What to train: log, method, time, options.
import { get, post } from "../tools/api.js";
import { card, field, fill, h, select } from "../tools/dom.js";
import { announce, attempt } from "../tools/messages.js";
import { known, looking, refresh } from "../tools/store.js";

const WORDS = {
  prssm: "PR-SSM: not linear",
  linear: "Linear model: seconds",
  "gp-narx": "GP-NARX",
};
const wanted = { method: "prssm", budget: "60", preset: "default", options: {} };

export function formCard(go) {
  if (!known.logs.length) {
    return card("New model", h("p", { className: "soft" }, "There is no log yet."),
      h("button", { type: "button", onclick: () => go("load") }, "Load a log"));
  }
  const body = h("form", { onsubmit: (event) => { event.preventDefault(); train(); } });

  async function draw() {
    if (!known.methods?.length) {
      const found = await attempt(() => get("/api/methods"));
      if (!found) return;
      known.methods = found.methods;
    }
    const method = known.methods.find((one) => one.name === wanted.method);
    fill(body,
      h("div", { className: "row" }, field("Log", select(known.logs.map((log) => [log.id, log.name]), looking.log,
        (value) => { looking.log = value; }))),
      h("div", { className: "row" }, field("Method", select(
        known.methods.map((one) => [one.name, WORDS[one.name] || one.name]), wanted.method,
        (value) => { wanted.method = value; wanted.options = {}; draw(); }))),
      wanted.method === "prssm" ? budget() : null,
      method.presets.length > 1 ? h("div", { className: "row" }, field("Preset", select(
        method.presets.map((name) => [name, name]), wanted.preset, (value) => { wanted.preset = value; }))) : null,
      more(method),
      h("div", { className: "row" }, h("button", { type: "submit", className: "main" }, "Start training")));
  }

  function budget() {
    const input = h("input", {
      type: "number", min: 1, step: "any", value: wanted.budget, onchange: () => { wanted.budget = input.value; },
    });
    return h("div", { className: "row" }, field("Seconds at most (empty: no limit)", input));
  }

  function more(method) {
    return h("details", {}, h("summary", {}, "More options"),
      h("div", { className: "stack" }, method.options.map((option) => {
        const change = (value) => { wanted.options[option.name] = value; };
        const control = option.choices.length
          ? select([["", "as the preset says"], ...option.choices.map((one) => [one, one])], wanted.options[option.name], change)
          : h("input", {
            type: "text", value: wanted.options[option.name] ?? "", placeholder: "as the preset says",
            onchange: (event) => change(event.target.value.trim()),
          });
        return h("div", {}, field(option.name.replaceAll("_", " "), control),
          h("p", { className: "soft small" }, option.help));
      })));
  }

  async function train() {
    const options = Object.fromEntries(Object.entries(wanted.options).filter(([, value]) => value));
    const seconds = wanted.method === "prssm" && wanted.budget ? Number(wanted.budget) : null;
    const job = await attempt(() => post("/api/jobs", {
      log: looking.log, method: wanted.method, preset: wanted.preset, options, budget: seconds,
    }));
    if (!job) return;
    announce(`${job.id} is queued`);
    await attempt(refresh);
  }

  draw();
  return card("New model", body);
}
