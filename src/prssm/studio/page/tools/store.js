// What the page knows: what the server says (`known`), and what this page looks at (`looking`).
import { get } from "./api.js";

export const known = { logs: [], models: [], jobs: [], methods: [] };
export const looking = { step: "load", log: null };
const listeners = new Set();

export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export async function refresh() {
  Object.assign(known, await get("/api/state"));
  if (!known.logs.some((log) => log.id === looking.log)) looking.log = known.logs[0]?.id ?? null;
  for (const listener of listeners) listener();
}
