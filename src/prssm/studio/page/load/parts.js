// Which rows train and which are scored: typed here, or dragged on the picture.
import { card, h, refill, select } from "../tools/dom.js";
import { announce } from "../tools/messages.js";
import { known } from "../tools/store.js";

export function partsCard(shared) {
  const { log } = shared;
  const body = h("div", {});

  function show() {
    const others = known.logs.filter((other) => other.id !== log.id);
    const kind = log.choice.test_log ? "log" : log.choice.test.length ? "rows" : "none";
    refill(body,
      part("training", "Rows that train", [[0, log.rows]]),
      h("fieldset", {}, h("legend", {}, "What is scored"),
        h("div", { className: "row" }, select(
          [["rows", "rows of this log"], ...(others.length ? [["log", "another log"]] : []), ["none", "nothing: all rows train"]],
          kind, (value) => scored(value, others), { "aria-label": "What is scored" }),
        kind === "log" ? select(others.map((other) => [other.id, other.name]), log.choice.test_log,
          (value) => { log.choice.test_log = value; shared.changed(false); }, { "aria-label": "The log that is scored" }) : null),
        kind === "rows" ? part("test", "Rows that are scored", []) : null),
      h("div", { className: "row" }, ...[50, 70, 80].map((share) => h("button", {
        type: "button", onclick: () => first(share / 100),
      }, `First ${share} % train`))));
    shared.picture?.mark();
  }

  function part(name, legend, otherwise) {
    const rows = log.choice[name].length ? log.choice[name] : otherwise;
    return h("fieldset", {}, h("legend", {}, legend), rows.map((one, piece) => h("div", { className: "row" },
      ...["from row", "up to row"].map((words, edge) => h("label", {}, `${words} `, h("input", {
        type: "number", min: 0, max: log.rows, value: one[edge],
        "aria-label": `${legend}, stretch ${piece + 1}, ${words}`,
        onchange: (event) => typed(name, piece, edge, event.target.value, otherwise),
      }))),
      rows.length > 1 ? h("button", { type: "button", onclick: () => drop(name, piece) }, "Remove") : null)),
    h("button", { type: "button", onclick: () => more(name, rows) }, "Add a stretch"));
  }

  function typed(name, piece, edge, text, otherwise) {
    const next = (log.choice[name].length ? log.choice[name] : otherwise).map((one) => [...one]);
    next[piece][edge] = Math.round(Number(text));
    log.choice[name] = next;
    shared.changed(false);
  }

  function drop(name, piece) {
    log.choice[name] = log.choice[name].filter((_, at) => at !== piece);
    shared.changed(false);
  }

  function more(name, rows) {
    const last = rows.length ? rows[rows.length - 1][1] : 0;
    const begin = Math.min(last, Math.max(log.rows - 2, 0));
    log.choice[name] = [...rows, [begin, log.rows]];
    shared.changed(false);
  }

  function scored(kind, others) {
    log.choice.test_log = kind === "log" ? others[0].id : null;
    log.choice.test = kind === "rows" ? [[Math.round(0.7 * log.rows), log.rows]] : [];
    if (kind !== "rows") log.choice.training = [];
    shared.changed(false);
  }

  function first(share) {
    const edge = Math.round(share * log.rows);
    Object.assign(log.choice, { training: [[0, edge]], test: [[edge, log.rows]], test_log: null });
    shared.changed(false);
  }

  // What was dragged on the picture: one stretch, in place of those before.
  function take(name, rows) {
    log.choice[name] = [rows];
    if (name === "test") log.choice.test_log = null;
    announce(`${name} part: rows ${rows[0]} to ${rows[1]}`);
    shared.changed(false);
  }

  return { element: card("Training and test rows", body), show, take };
}
