// The list of logs, and the place where files are dropped or chosen.
import { remove, send } from "../tools/api.js";
import { card, h } from "../tools/dom.js";
import { announce, attempt } from "../tools/messages.js";
import { known, looking, refresh } from "../tools/store.js";

export function logsCard(choose) {
  const list = h("ul", { className: "plain" }, known.logs.map((log) => h("li", { className: "choice" },
    h("button", {
      type: "button", "aria-pressed": String(log.id === looking.log), onclick: () => choose(log.id),
    }, log.name),
    h("button", {
      type: "button", "aria-label": `Remove ${log.name} from the project`, title: "Remove from the project",
      onclick: () => forget(log),
    }, "×"))));
  return card("Logs", known.logs.length ? list : null, dropPlace(choose));
}

async function forget(log) {
  if (!confirm(`Remove ${log.name} from the project? A file that is elsewhere stays.`)) return;
  await attempt(() => remove(`/api/logs/${log.id}`));
  await attempt(refresh);
}

function dropPlace(choose) {
  const input = h("input", {
    type: "file", multiple: true, className: "hidden", id: "file",
    onchange: () => take([...input.files], choose),
  });
  const place = h("div", { className: "drop" },
    h("p", {}, "Drop files here (CSV, Parquet, MAT, …)"),
    h("button", { type: "button", onclick: () => input.click() }, "Choose files"),
    h("label", { htmlFor: "file", className: "hidden" }, "Files to load"), input);
  input.tabIndex = -1;
  for (const kind of ["dragenter", "dragover"])
    place.addEventListener(kind, (event) => { event.preventDefault(); place.classList.add("over"); });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("over");
    take([...event.dataTransfer.files], choose);
  });
  return place;
}

async function take(files, choose) {
  for (const file of files) {
    announce(`Loading ${file.name}`);
    const log = await attempt(() => {
      if (file.size > known.upload * 1e6)
        throw new Error(`${file.name} is larger than the ${known.upload} MB that this studio takes; start it with the file's name instead: prssm studio log.csv`);
      return send("/api/logs", file);
    });
    if (!log) return;
    announce(`${file.name} is loaded`);
    await attempt(refresh);
    choose(log.id);
  }
}
