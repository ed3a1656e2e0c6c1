// How time stamps and numbers are read, where they do not say it themselves: words of `prssm fit`.
import { field, h, select } from "../tools/dom.js";

const CHOICES = {
  gaps: ["Where rows are missing", [["", "that is an error"], ["split", "split into experiments"], ["fill", "add rows with missing outputs"]]],
  duplicates: ["Rows with the same time", [["", "are an error"], ["mean", "keep their mean"], ["first", "keep the first"]]],
  decimal: ["Decimal mark", [["", "as the file shows"], [".", "point"], [",", "comma"]]],
};
const TEXTS = {
  resample: ["Put rows on this step", "e.g. 0.5s, or auto"],
  time_unit: ["The time column counts", "e.g. ms, excel, day-first"],
};

export function readingCard(shared) {
  const { choice } = shared.log;
  const change = (name) => (value) => { shared.log.choice[name] = value || null; shared.changed(false); };
  const chosen = Object.entries(CHOICES).map(([name, [words, options]]) =>
    field(words, select(options, choice[name], change(name))));
  const typed = Object.entries(TEXTS).map(([name, [words, placeholder]]) => field(words, h("input", {
    type: "text", placeholder, value: choice[name] ?? "", onchange: (event) => change(name)(event.target.value.trim()),
  })));
  const sort = h("label", {}, h("input", {
    type: "checkbox", checked: choice.sort, onchange: (event) => change("sort")(event.target.checked),
  }), " Put rows in order of time");
  const isSaid = ["sort", ...Object.keys(CHOICES), ...Object.keys(TEXTS)].some((name) => choice[name]);
  return h("details", { open: isSaid }, h("summary", {}, "Reading time and numbers"),
    h("div", { className: "row end" }, chosen, typed), h("div", { className: "row" }, sort));
}
