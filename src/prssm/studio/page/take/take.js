import { fill, h } from "../tools/dom.js";

export function showTake(content) {
  fill(content, h("p", { className: "empty" }, "Nothing here yet."));
}
