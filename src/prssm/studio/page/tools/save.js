// Saves an answer of the server as a file of the user.
import { h } from "./dom.js";

export async function saveAnswer(path, content, name) {
  const answer = await fetch(path, {
    method: "POST", body: JSON.stringify(content), headers: { "content-type": "application/json" },
  });
  if (!answer.ok) throw new Error((await answer.json()).error);
  const address = URL.createObjectURL(await answer.blob());
  h("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}
