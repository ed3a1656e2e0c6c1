// Builds elements. Every text goes in as text, never as HTML: names of columns may hold anything.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !["list", "form"].includes(name) && !name.startsWith("aria-"))
      element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Fields in which a person has typed something that no handler knows yet.
const unfinished = new WeakSet();
let leaving = null; // one of them, while it is replaced: a browser may then call it finished
document.addEventListener("input", (event) => unfinished.add(event.target), true);
document.addEventListener("change", (event) => {
  if (event.target === leaving) event.stopImmediatePropagation();
  else unfinished.delete(event.target);
}, true);

// The same for what is drawn again while a person works in it: the focus stays where it was, or
// near it, and so does what was typed.
export function refill(element, ...children) {
  const active = document.activeElement;
  const name = element.contains(active) ? nameOf(active) : null;
  leaving = name && unfinished.has(active) ? active : null;
  const text = leaving?.value;
  fill(element, ...children);
  leaving = null;
  if (!name) return element;
  const all = [...element.querySelectorAll("button, input, select, textarea, summary, a")];
  const same = all.find((one) => nameOf(one) === name);
  (same ?? all.at(-1))?.focus();
  if (same && text !== undefined) goOn(same, text);
  else same?.select?.(); // as the tabulator does: what is typed next replaces the value
  return element;
}

// Text that is put in counts as typed: the field tells its handler when it is left.
function goOn(field, text) {
  const told = new AbortController();
  field.value = text;
  unfinished.add(field);
  field.addEventListener("change", () => told.abort(), { signal: told.signal });
  field.addEventListener("blur", () => field.dispatchEvent(new Event("change", { bubbles: true })), { signal: told.signal });
}

function nameOf(element) {
  const words = element.getAttribute("aria-label") || element.labels?.[0]?.textContent || element.textContent;
  return `${element.tagName} ${words}`;
}

// A labelled field: the words above, the control below.
let fields = 0;

export function field(words, control) {
  fields += 1;
  control.id = `field-${fields}`;
  return h("div", { className: "field" }, h("label", { htmlFor: control.id }, words), control);
}

export function select(options, value, onchange, attributes = {}) {
  const control = h("select", { onchange: () => onchange(control.value), ...attributes });
  for (const [key, words] of options) control.append(h("option", { value: key }, words));
  control.value = value ?? "";
  return control;
}

export function card(title, ...content) {
  return h("section", { className: "card" }, title ? h("h2", {}, title) : null, ...content);
}

export function number(value, digits = 4) {
  return value === null || value === undefined ? "" : String(Number(value.toPrecision(digits)));
}

// A value of a range with so many digits of the range: an offset must not hide what differs.
export function within(value, low, high, digits = 3) {
  const common = Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high))) - Math.log10(high - low));
  return number(value, high > low ? Math.min(15, digits + Math.max(0, common)) : digits);
}

// A table from {header, rows}: the first cell of a row names it.
export function table(header, rows, caption) {
  const head = h("thead", {}, h("tr", {}, header.map((cell) =>
    cell.text === "" ? h("td", {}) : h("th", { scope: "col", className: cell.number ? "number" : "" }, cell.text))));
  const body = h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, column) =>
    h(column ? "td" : "th", {
      scope: column ? undefined : "row",
      className: [cell.number ? "number" : "", cell.best ? "best" : ""].join(" ").trim(),
    }, cell.text)))));
  return h("div", { className: "scroll", tabIndex: 0, role: "group", "aria-label": caption },
    h("table", {}, h("caption", { className: "hidden" }, caption), head, body));
}
