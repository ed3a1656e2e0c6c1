// Listens to what the server says by itself.

export function listen(hear, lost) {
  const source = new EventSource("/api/events");
  source.onmessage = (message) => hear(JSON.parse(message.data));
  source.onerror = () => lost(source.readyState === EventSource.CLOSED);
}
