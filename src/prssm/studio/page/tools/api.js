// Asks the server. An answer that is an error becomes an Error with the server's one line.

async function ask(method, path, { body, headers = {}, signal } = {}) {
  let response;
  try {
    response = await fetch(path, { method, body, headers, signal, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The studio does not answer: was it stopped? Start it again, and open its new address.");
  }
  const isJson = (response.headers.get("content-type") || "").startsWith("application/json");
  const answer = isJson ? await response.json() : { error: await response.text() };
  if (!response.ok) throw new Error(answer.error || `The studio answered ${response.status}.`);
  return answer;
}

const json = { "content-type": "application/json" };
export const get = (path, signal) => ask("GET", path, { signal });
export const put = (path, content) => ask("PUT", path, { body: JSON.stringify(content), headers: json });
export const post = (path, content = {}, signal) =>
  ask("POST", path, { body: JSON.stringify(content), headers: json, signal });
export const remove = (path) => ask("DELETE", path);
export const send = (path, file) =>
  ask("POST", path, { body: file, headers: { "x-file-name": encodeURIComponent(file.name) } });

// Numbers that the server has packed: 64-bit floats in base64.
export function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float64Array(bytes.buffer);
}
