// What is done to the data before training. (Filled in when the library's steps are there.)
import { h } from "../tools/dom.js";

export function preprocessingCard() {
  return { element: h("div", {}), show() {} };
}
