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

// The same for what is drawn again while a person works in it: the focus stays where it was.
export function refill(element, ...children) {
  const active = document.activeElement;
  const name = element.contains(active) ? nameOf(active) : null;
  fill(element, ...children);
  if (!name) return element;
  const same = [...element.querySelectorAll("button, input, select, textarea, summary, a")];
  same.find((one) => nameOf(one) === name)?.focus();
  return element;
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
