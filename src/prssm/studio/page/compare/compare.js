import { fill, h } from "../tools/dom.js";

export function showCompare(content) {
  fill(content, h("p", { className: "empty" }, "Nothing here yet."));
}
