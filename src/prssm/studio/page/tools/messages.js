// One clear line for every error, and quiet news for those who listen to the page.
import { fill, h } from "./dom.js";

export function complain(text) {
  const place = document.getElementById("message");
  if (!text) return fill(place);
  return fill(place, h("span", {}, text),
    h("button", { type: "button", onclick: () => complain("") }, "Close"));
}

export function announce(text) {
  document.getElementById("news").textContent = text;
}

// Runs something a user has asked for; what goes wrong is said in one line.
export async function attempt(work) {
  try {
    complain("");
    return await work();
  } catch (error) {
    if (error.name !== "AbortError") complain(error.message);
    return undefined;
  }
}
