// The columns of a log: what each holds, and what it is used as.
import { card, h, select, within } from "../tools/dom.js";
import { readingCard } from "./reading.js";

const ROLES = [["", "not used"], ["input", "input"], ["output", "output"], ["time", "time"]];

export function columnsCard(shared) {
  const { log } = shared;
  const rows = log.columns.map((column, index) => {
    const role = select(ROLES, roleOf(log.choice, column.name), (value) => {
      take(log, column.name, value);
      shared.changed(true);
    }, { "aria-label": `Use of ${column.name}` });
    const { low, high } = column;
    const limits = low === null ? column.kind : `${within(low, low, high, 4)} … ${within(high, low, high, 4)}`;
    return h("tr", {},
      h("th", { scope: "row" }, column.name, column.unit && !column.name.includes(column.unit) ? ` [${column.unit}]` : ""),
      h("td", {}, role), h("td", {}, limits),
      h("td", { className: "number" }, column.missing ? String(column.missing) : ""),
      h("td", {}, column.low === null ? "" : h("input", {
        type: "checkbox", checked: shows(shared, index), "aria-label": `Show ${column.name} in the picture`,
        onchange: (event) => { setShown(shared, index, event.target.checked); shared.picture.show(); },
      })));
  });
  const head = h("tr", {}, ["Column", "Used as", "Range", "Missing", "Shown"].map((words) =>
    h("th", { scope: "col" }, words)));
  return card(`Columns of ${log.name}`,
    h("p", { className: "soft small" }, `${log.rows.toLocaleString("en")} rows.`),
    h("div", { className: "scroll", tabIndex: 0, role: "group", "aria-label": "Columns" },
      h("table", {}, h("caption", { className: "hidden" }, "Columns of the log and their use"),
        h("thead", {}, head), h("tbody", {}, rows))),
    timeRow(shared), readingCard(shared));
}

function timeRow(shared) {
  const { choice } = shared.log;
  if (choice.time) return null;
  const step = h("input", {
    type: "number", min: 0, step: "any", value: choice.dt ?? "",
    onchange: () => { choice.dt = step.value ? Number(step.value) : null; shared.changed(false); },
  });
  return h("div", { className: "row" }, h("label", {}, "Seconds between rows (no time column): ", step));
}

function roleOf(choice, name) {
  if (choice.inputs.includes(name)) return "input";
  if (choice.outputs.includes(name)) return "output";
  return choice.time === name ? "time" : "";
}

function take(log, name, role) {
  const { choice } = log;
  const order = log.columns.map((column) => column.name);
  const inOrder = (names) => order.filter((one) => names.includes(one));
  choice.inputs = inOrder(choice.inputs.filter((one) => one !== name).concat(role === "input" ? [name] : []));
  choice.outputs = inOrder(choice.outputs.filter((one) => one !== name).concat(role === "output" ? [name] : []));
  if (choice.time === name) choice.time = null;
  if (role === "time") choice.time = name;
}

// Shown are the used columns, and those that were ticked; without any, the first ones.
const MOST = 6;

export function shownColumns(shared) {
  const { log } = shared;
  const numeric = log.columns.map((column, index) => (column.low === null ? -1 : index)).filter((index) => index >= 0);
  return numeric.filter((index) => shows(shared, index));
}

function shows(shared, index) {
  if (!shared.shown) {
    const { log } = shared;
    const isUsed = (column) => log.choice.inputs.includes(column.name) || log.choice.outputs.includes(column.name);
    const numeric = log.columns.filter((column) => column.low !== null);
    const used = numeric.filter(isUsed);
    const first = (used.length ? used : numeric).slice(0, MOST);
    shared.shown = new Set(first.map((column) => log.columns.indexOf(column)));
  }
  return shared.shown.has(index);
}

function setShown(shared, index, on) {
  if (on) shared.shown.add(index);
  else shared.shown.delete(index);
}
