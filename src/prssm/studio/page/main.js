// Starts the page: the four steps, and what happens when the server has news.
import { showCompare } from "./compare/compare.js";
import { showLoad } from "./load/load.js";
import { showTake } from "./take/take.js";
import { hearJobs, showTrain } from "./train/train.js";
import { listen } from "./tools/events.js";
import { attempt, complain } from "./tools/messages.js";
import { known, looking, refresh } from "./tools/store.js";

const STEPS = { load: showLoad, train: showTrain, compare: showCompare, take: showTake };
const content = document.getElementById("content");
let leave = null;
let wasLost = false;

export function go(step) {
  looking.step = step in STEPS ? step : "load";
  history.replaceState(null, "", `/#${looking.step}`);
  for (const button of document.querySelectorAll("nav button")) {
    if (button.dataset.step === looking.step) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  }
  if (leave) leave();
  leave = STEPS[looking.step](content, go) || null;
}

async function hear(event) {
  if (wasLost) complain("");
  wasLost = false;
  if (["hello", "logs", "jobs", "model"].includes(event.kind)) await attempt(refresh);
  hearJobs(event);
}

function lost(forGood) {
  wasLost = true;
  complain(forGood
    ? "The studio was started again: open the new address that it has printed."
    : "The studio does not answer. This page goes on as soon as it does.");
}

for (const button of document.querySelectorAll("nav button"))
  button.addEventListener("click", () => { go(button.dataset.step); content.focus(); });
window.addEventListener("hashchange", () => go(location.hash.slice(1)));

await attempt(refresh);
document.getElementById("project").textContent = known.project ? `project ${known.project}` : "";
go(location.hash.slice(1) || "load");
listen(hear, lost);
