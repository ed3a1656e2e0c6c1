// What is odd about the chosen rows, in words of the library, with the step that helps.
import { get } from "../tools/api.js";
import { card, fill, h } from "../tools/dom.js";

export function adviceCard(shared) {
  const body = h("div", {}, h("p", { className: "waiting" }, "Looking at the data …"));
  let latest = 0;

  async function show() {
    latest += 1;
    const mine = latest;
    let lines;
    try {
      ({ lines } = await get(`/api/logs/${shared.log.id}/advice`));
    } catch (error) {
      lines = [{ kind: "bad", text: error.message }];
    }
    if (mine !== latest) return;
    fill(body, lines.length
      ? h("ul", { className: "lines" }, lines.map((line) => h("li", { className: line.kind }, line.text, step(line))))
      : h("p", { className: "soft" }, "Nothing odd was found."));
    body.dataset.ready = "true";
  }

  function step(line) {
    if (!line.step || shared.log.choice.preprocess.includes(line.step)) return null;
    return h("div", {}, h("button", {
      type: "button", onclick: () => { shared.log.choice.preprocess.push(line.step); shared.changed(false); },
    }, `Use ${line.step}`));
  }

  return { element: card("Advice on the data", body), show };
}
