// The live picture: the free run of a model over the scored rows, drawn again when it gets better.
import { get } from "../tools/api.js";
import { card, fill, h, number, table } from "../tools/dom.js";
import { clear, embed } from "../tools/figures.js";

export function liveCard() {
  const title = h("p", { className: "soft" });
  const run = h("div", { className: "picture" });
  const errors = h("div", { className: "picture" });
  const scores = h("div", {});
  const element = card("Live picture", title, h("figure", {}, run), scores, h("figure", {}, errors));
  element.hidden = true;
  let chosen = null;
  let busy = false;
  let again = false;

  async function show() {
    if (!chosen) return;
    if (busy) { again = true; return; }
    busy = true;
    element.hidden = false;
    try {
      const mine = chosen;
      const found = await get(`/api/jobs/${mine}/picture`);
      if (mine === chosen) await draw(found);
    } catch (error) {
      title.textContent = error.message;
    }
    busy = false;
    if (again) { again = false; show(); }
  }

  async function draw(found) {
    title.textContent = found.held_out
      ? `${chosen} runs freely over the test rows; it has not seen them.`
      : `${chosen} runs freely over its training rows: no rows were kept back.`;
    await embed(run, found.figures.run);
    if (found.figures.errors) await embed(errors, found.figures.errors);
    else { clear(errors); fill(errors); }
    const cell = (text) => ({ text, number: true });
    const rows = Object.entries(found.scores).filter(([, one]) => "rmse" in one).map(([name, one]) => [
      { text: name }, cell(number(one.rmse)), cell(number(one.fit_percent, 3)), cell(`${Math.round(100 * one.coverage_95)} %`)]);
    fill(scores, table([{ text: "Model" }, cell("RMSE"), cell("fit %"), cell("in 95 % band")], rows,
      found.held_out ? "Errors on test rows" : "Errors on training rows"));
    run.dataset.model = chosen;
    run.dataset.draws = String(Number(run.dataset.draws || 0) + 1);
  }

  return {
    element,
    choose(id) { chosen = id; show(); },
    check(usual) { if (!chosen && usual) { chosen = usual; show(); } },
    heard(id) { if (!chosen) chosen = id; if (id === chosen) show(); },
    note(id, text) { if (id === chosen) { element.hidden = false; title.textContent = text; } },
    leave() { clear(run); clear(errors); chosen = null; },
  };
}
