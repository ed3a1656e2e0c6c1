// The first step: which log, which of its columns, which rows, and what is odd about them.
import { get, put } from "../tools/api.js";
import { card, fill, h } from "../tools/dom.js";
import { attempt } from "../tools/messages.js";
import { known, looking, onChange } from "../tools/store.js";
import { adviceCard } from "./advice.js";
import { columnsCard } from "./columns.js";
import { logsCard } from "./logs.js";
import { partsCard } from "./parts.js";
import { pictureCard } from "./picture.js";
import { preprocessingCard } from "./preprocessing.js";

export function showLoad(content, go) {
  const side = h("div", { className: "stack" });
  const wide = h("div", { className: "stack" });
  fill(content,
    h("h1", {}, "Load a log"),
    h("p", { className: "soft" }, "Choose a log, say what its columns are, and which rows train and which are scored."),
    h("div", { className: "columns" }, side, wide));
  let cards = [];
  let drawn = null;

  async function draw() {
    const wanted = JSON.stringify([looking.log, known.logs]);
    if (drawn === wanted) return undefined;
    drawn = wanted;
    for (const one of cards) one.leave?.();
    cards = [];
    fill(side, logsCard(choose));
    if (!looking.log) return fill(wide, empty());
    fill(wide, card("", h("p", { className: "waiting" }, "Reading the log …")));
    const log = await attempt(() => get(`/api/logs/${looking.log}`));
    if (drawn !== wanted) return undefined; // another log was chosen meanwhile
    if (!log) return fill(wide, card("", h("p", { className: "empty" }, "This log cannot be read.")));
    const shared = { log, changed: null, picture: null };
    const parts = partsCard(shared);
    shared.picture = pictureCard(shared, parts);
    const advice = adviceCard(shared);
    const preprocessing = preprocessingCard(shared);
    shared.changed = inTurn(log, (redraw) => {
      if (redraw) shared.picture.show();
      parts.show();
      advice.show();
      preprocessing.show();
    });
    cards = [shared.picture, parts, advice, preprocessing];
    side.append(advice.element);
    fill(wide, columnsCard(shared), shared.picture.element, parts.element, preprocessing.element,
      h("div", { className: "row" },
        h("button", { type: "button", className: "main", onclick: () => go("train") }, "Go on to training")));
    parts.show();
    await shared.picture.show(); // first what one looks at, then what takes a moment
    preprocessing.show();
    advice.show();
    return undefined;
  }

  function choose(id) {
    looking.log = id;
    draw();
  }

  draw();
  const stop = onChange(draw);
  return () => { stop(); for (const one of cards) one.leave?.(); };
}

// Keeps each choice on the server, one after the other, and shows what the last one led to.
function inTurn(log, show) {
  let last = Promise.resolve();
  let count = 0;
  let shouldRedraw = false;
  return (redraw) => {
    count += 1;
    const mine = count;
    shouldRedraw ||= redraw;
    last = last.then(async () => {
      if (mine !== count) return;
      const saved = await attempt(() => put(`/api/logs/${log.id}/choice`, log.choice));
      if (!saved || mine !== count) return;
      log.choice = saved;
      show(shouldRedraw);
      shouldRedraw = false;
    });
    return last;
  };
}

function empty() {
  return h("section", { className: "card empty" },
    h("h2", {}, "No log yet"),
    h("p", {}, "Drop a CSV, Parquet or MAT file on the left, or start the studio with the name of a log: prssm studio log.csv"));
}
