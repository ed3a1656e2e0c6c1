// The second step: ask for models, watch them get better, stop and resume them.
import { fill, h } from "../tools/dom.js";
import { onChange } from "../tools/store.js";
import { formCard } from "./form.js";
import { jobsCard } from "./jobs.js";
import { liveCard } from "./live.js";

let open = null;

export function showTrain(content, go) {
  const live = liveCard();
  const jobs = jobsCard((id) => live.choose(id), go);
  fill(content,
    h("h1", {}, "Train models"),
    h("p", { className: "soft" }, "Each model trains in a process of its own: this page may be closed meanwhile."),
    h("div", { className: "columns" },
      h("div", { className: "stack" }, formCard(go)),
      h("div", { className: "stack" }, jobs.element, live.element)));
  open = { jobs, live };
  jobs.show();
  live.choose(jobs.usual());
  const stop = onChange(() => { jobs.show(); live.check(jobs.usual()); });
  return () => { stop(); live.leave(); open = null; };
}

// What the server says about jobs, while this step is open.
export function hearJobs(event) {
  if (!open) return;
  if (event.kind === "progress") open.jobs.progress(event.job, event.progress);
  if (event.kind === "judged") open.live.heard(event.job);
  if (event.kind === "note") open.live.note(event.job, event.text);
}
