// The picture of a log: panels that ask for the visible rows, and parts that are dragged on them.
import { get, unpacked } from "../tools/api.js";
import { card, fill, h, select } from "../tools/dom.js";
import { clear, embed } from "../tools/figures.js";
import { attempt } from "../tools/messages.js";
import { shownColumns } from "./columns.js";

const PATIENCE = 25; // milliseconds without a change, before rows are asked for

export function pictureCard(shared, parts) {
  const { log } = shared;
  const place = h("div", { className: "picture" });
  const words = h("p", { className: "soft small" });
  let doc = null;
  let panels = 0;
  let mode = "zoom";
  let asking = null;
  let timer = 0;
  const range = () => doc.get_model_by_name("shown");
  const query = () => `columns=${shownColumns(shared).join(",")}`;

  // Without a picture there is nothing to zoom.
  function allow(there) {
    for (const one of tools) one.disabled = !there;
  }

  async function show() {
    allow(false);
    const columns = shownColumns(shared);
    panels = columns.length;
    if (!panels) {
      clear(place);
      doc = null;
      return fill(place, h("p", { className: "empty" }, "No column is shown. Tick some in the table above."));
    }
    const item = await attempt(() => get(`/api/logs/${log.id}/picture?${query()}`));
    if (!item) {
      allow(doc !== null); // the picture before is still there
      return undefined;
    }
    doc = await embed(place, item);
    if (!doc) return undefined;
    range().change.connect(() => { clearTimeout(timer); timer = setTimeout(update, PATIENCE); });
    for (let panel = 0; panel < panels; panel += 1)
      doc.get_model_by_name(`panel-${panel}`).on_event("selectiongeometry", dragged);
    drag();
    mark();
    place.dataset.ready = String(panels);
    allow(true);
    return undefined;
  }

  async function update() {
    asking?.abort();
    asking = new AbortController();
    const { start, end } = range();
    words.textContent = `Rows ${Math.round(start)} to ${Math.round(end)} of ${log.rows}.`;
    const path = `/api/logs/${log.id}/rows?${query()}&begin=${Math.floor(start)}&end=${Math.ceil(end)}`;
    const found = await attempt(() => get(path, asking.signal));
    if (!found || !doc) return;
    const data = {};
    for (const [name, text] of Object.entries(found)) data[name] = unpacked(text);
    doc.get_model_by_name("rows").data = data;
    place.dataset.rows = `${Math.round(start)}-${Math.round(end)}`;
  }

  function dragged(event) {
    if (mode === "zoom" || event.final === false) return;
    const { x0, x1 } = event.geometry;
    const begin = Math.max(0, Math.round(Math.min(x0, x1)));
    const end = Math.min(log.rows, Math.round(Math.max(x0, x1)) + 1);
    if (end - begin > 1) parts.take(mode, [begin, end]);
  }

  function drag() {
    for (let panel = 0; doc && panel < panels; panel += 1)
      for (const tool of doc.get_model_by_name(`panel-${panel}`).toolbar.tools)
        if (tool.name === "zoom") tool.active = mode === "zoom";
        else if (tool.name === "select") tool.active = mode !== "zoom";
  }

  // Without a choice all rows train.
  function stretches(part) {
    return part === "training" && !log.choice.training.length ? [[0, log.rows]] : log.choice[part];
  }

  function mark() {
    if (!doc) return;
    for (const part of ["training", "test"]) {
      const rows = stretches(part);
      doc.get_model_by_name(part).data = {
        begin: rows.map((one) => one[0]), end: rows.map((one) => one[1] - 1),
      };
    }
  }

  function look(factor, shift) {
    const { start, end } = range();
    const middle = (start + end) / 2 + shift * (end - start);
    const half = Math.min(((end - start) / 2) * factor, (log.rows - 1) / 2);
    const low = Math.max(0, Math.min(middle - half, log.rows - 1 - 2 * half));
    range().setv({ start: low, end: Math.max(low + 2, low + 2 * half) });
  }

  const tool = (text, label, onclick) => h("button", { type: "button", "aria-label": label, title: label, onclick }, text);
  const tools = [
    tool("+", "Zoom in", () => look(0.5, 0)), tool("−", "Zoom out", () => look(2, 0)),
    tool("←", "Earlier rows", () => look(1, -0.5)), tool("→", "Later rows", () => look(1, 0.5)),
    tool("All", "Show all rows", () => range().setv({ start: 0, end: Math.max(log.rows - 1, 1) })),
  ];
  const dragging = select(
    [["zoom", "zooms in"], ["training", "marks the training part"], ["test", "marks the test part"]], mode,
    (value) => { mode = value; drag(); }, { "aria-label": "What dragging on the picture does" });
  const element = card("Picture",
    h("div", { className: "row" },
      h("span", {}, "Dragging "), dragging,
      ...tools,
      h("span", { className: "small" }, h("span", { className: "swatch training" }), " training ",
        h("span", { className: "swatch test" }), " test")),
    h("figure", {}, place, h("figcaption", {},
      "The shown columns over the row number. Ctrl and the wheel zoom.")), words);
  return { element, show, mark, leave: () => { clearTimeout(timer); allow(false); clear(place); doc = null; } };
}
