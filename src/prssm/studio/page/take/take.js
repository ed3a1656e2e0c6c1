// The fourth step: what one takes away from a model.
import { get, post } from "../tools/api.js";
import { card, field, fill, h, select } from "../tools/dom.js";
import { announce, attempt } from "../tools/messages.js";
import { saveAnswer } from "../tools/save.js";
import { known, looking } from "../tools/store.js";

let chosen = null;

export function showTake(content, go) {
  const models = known.models.filter((model) => !model.error);
  const body = h("div", { className: "stack" });
  fill(content, h("h1", {}, "Take away"),
    h("p", { className: "soft" }, "Everything is in the project folder already; the command line understands it."), body);
  if (!models.length) {
    return fill(body, h("section", { className: "card empty" }, h("h2", {}, "No model yet"),
      h("p", {}, "Train one first; a linear model takes seconds."),
      h("button", { type: "button", onclick: () => go("train") }, "Go to training"))) && null;
  }
  if (!models.some((model) => model.id === chosen)) chosen = models.at(-1).id;

  async function show() {
    const about = await attempt(() => get(`/api/models/${encodeURIComponent(chosen)}`));
    if (!about) return;
    fill(body,
      h("div", { className: "row" }, field("Model", select(models.map((model) => [model.id, model.id]), chosen,
        (value) => { chosen = value; show(); }))),
      h("div", { className: "columns" }, h("div", { className: "stack" }, files(about), languages(about)),
        h("div", { className: "stack" }, ways(about))));
    body.dataset.model = chosen;
  }

  function files(about) {
    const path = `/api/models/${encodeURIComponent(about.id)}`;
    const report = h("div", { className: "row", "aria-live": "polite" });
    return card("Files",
      h("div", { className: "row" }, h("a", { className: "button", href: `${path}/file` }, "Model file"),
        h("button", { type: "button", onclick: () => attempt(() => saveAnswer("/api/scores.csv", {
          models: models.map((model) => model.id), log: looking.log, begin: 0, end: null,
        }, "scores.csv")) }, "Scores of all models (CSV)")),
      h("p", { className: "soft small" }, `Scores are those of free runs over ${known.logs.find((log) => log.id === looking.log)?.name ?? "the log"}.`),
      h("div", { className: "row" }, h("button", {
        type: "button", onclick: async () => {
          fill(report, h("span", { className: "waiting" }, "Writing the report …"));
          const done = await attempt(() => post(`${path}/report`));
          fill(report, done ? [
            h("a", { className: "button", href: `${path}/report`, target: "_blank", rel: "noopener" }, "Open the report"),
            h("a", { className: "button", href: `${path}/report?keep` }, "Save the report")] : []);
        },
      }, "Write a report")), report);
  }

  function languages(about) {
    const done = h("div", { className: "row", "aria-live": "polite" });
    return card("In another language",
      h("ul", { className: "plain" }, about.targets.map((target) => h("li", {}, h("button", {
        type: "button", onclick: async () => {
          fill(done, h("span", { className: "waiting" }, "Writing …"));
          const found = await attempt(() => post(`/api/models/${encodeURIComponent(about.id)}/export`, { to: target.name }));
          fill(done, found ? h("a", { className: "button", href: `/api/exports/${encodeURIComponent(found.name)}` }, `Save ${found.name}`) : []);
        },
      }, target.name), ` ${target.says}`))), done);
  }

  function ways(about) {
    if (!about.command) {
      return card("The same by hand", h("p", { className: "soft" }, "This model was not trained here, so its command line is not known."));
    }
    return card("The same by hand",
      h("p", { className: "soft small" }, `In the project folder, ${about.folder}:`),
      h("h3", {}, "Command line"), h("pre", { id: "command", tabIndex: 0 }, about.command), copy("command", about.command),
      h("h3", {}, "Python"), h("pre", { id: "script", tabIndex: 0 }, about.script), copy("script", about.script));
  }

  function copy(what, text) {
    return h("button", {
      type: "button", onclick: () => attempt(async () => {
        await navigator.clipboard.writeText(text);
        announce(`The ${what} was copied`);
      }),
    }, `Copy the ${what}`);
  }

  show();
  return null;
}
