// The queue: how each job stands, how far it is, and what can be done with it.
import { post, remove } from "../tools/api.js";
import { card, h, number, refill } from "../tools/dom.js";
import { attempt } from "../tools/messages.js";
import { known, refresh } from "../tools/store.js";

const STATES = {
  queued: "waiting", running: "training", done: "done", failed: "failed", stopped: "stopped", interrupted: "interrupted",
};

export function jobsCard(choose, go) {
  const body = h("div", {});
  const bars = new Map();

  function show() {
    bars.clear();
    const jobs = [...known.jobs].reverse();
    refill(body, jobs.length ? jobs.map(job) : h("p", { className: "empty" },
      "No model yet. Choose a method on the left; a linear model takes seconds."));
  }

  function job(one) {
    const last = one.history.at(-1);
    const button = (words, onclick) => h("button", { type: "button", onclick, "aria-label": `${words} ${one.id}` }, words);
    const ended = ["done", "failed", "stopped", "interrupted"].includes(one.state);
    const state = ["running", "done", "failed"].includes(one.state) ? one.state : "";
    return h("article", { className: "job", "aria-label": one.id, "data-job": one.id, "data-state": one.state },
      h("div", { className: "row" },
        h("strong", {}, one.id), h("span", { className: `tag ${state}` }, STATES[one.state]),
        h("span", { className: "soft small" }, one.name),
        last ? h("span", { className: "small" }, `RMSE ${number(last.rmse)}, fit ${number(last.fit_percent, 3)} %`) : null),
      one.reason ? h("p", { className: one.state === "failed" ? "small" : "soft small" }, one.reason) : null,
      one.state === "running" ? bar(one) : null,
      h("div", { className: "row" },
        one.has_model ? button("Show", () => choose(one.id)) : null,
        one.has_model && one.state === "done" ? button("Compare", () => go("compare")) : null,
        one.state === "running" || one.state === "queued"
          ? button("Stop", () => act(() => post(`/api/jobs/${one.id}/stop`))) : null,
        ["stopped", "interrupted", "failed"].includes(one.state)
          ? button(one.state === "failed" ? "Try again" : "Resume", () => act(() => post(`/api/jobs/${one.id}/resume`))) : null,
        ended ? button("Remove", () => forget(one)) : null));
  }

  function bar(one) {
    const meter = h("progress", { max: 1, "aria-label": `Progress of ${one.id}` });
    const words = h("span", { className: "soft small" });
    bars.set(one.id, { meter, words });
    progress(one.id, one.progress);
    return h("div", {}, meter, words);
  }

  function progress(id, told) {
    const mine = bars.get(id);
    if (!mine) return;
    const { meter, words } = mine;
    if (told.total) { meter.max = told.total; meter.value = told.done; } else meter.removeAttribute("value");
    const steps = told.total ? `, ${told.done} of ${told.total}` : "";
    const figures = Object.entries(told.figures || {}).map(([name, value]) => `, ${name} ${number(value)}`).join("");
    words.textContent = told.phase ? `${told.phase}${steps}${figures}` : "starting …";
  }

  async function act(work) {
    await attempt(work);
    await attempt(refresh);
  }

  async function forget(one) {
    if (one.has_model && !confirm(`Remove ${one.id} and its model?`)) return;
    await act(() => remove(`/api/jobs/${one.id}`));
  }

  // The job that one wants to see: one that trains, else the newest with a model.
  function usual() {
    const seen = known.jobs.filter((one) => one.has_model);
    return (seen.find((one) => one.state === "running") || seen.at(-1))?.id ?? null;
  }

  return { element: card("Models", body), show, progress, usual };
}
