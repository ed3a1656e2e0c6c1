// Puts figures that the server has made with Bokeh into the page, and takes them out again.

const shown = new WeakMap(); // what is drawn in a place
const turns = new WeakMap(); // the last figure that was asked for in a place
let count = 0;

// Draws a figure in a place, after those that were asked for before. Gives Bokeh's document, or
// null where the place has left the page meanwhile.
export function embed(place, item) {
  const turn = (turns.get(place) || Promise.resolve()).then(() => draw(place, item));
  turns.set(place, turn.catch(() => null));
  return turn;
}

async function draw(place, { figure, linked }) {
  clear(place);
  if (!place.isConnected) return null;
  count += 1;
  const target = document.createElement("div");
  target.id = `figure-${count}`;
  place.replaceChildren(target);
  const views = [...await Bokeh.embed.embed_item({ ...figure, target_id: target.id })];
  const { document: drawn } = views[0].model;
  shown.set(place, { views, drawn });
  for (const [one, other] of linked) {
    const leader = drawn.get_model_by_id(one);
    const follower = drawn.get_model_by_id(other);
    leader.properties.visible.change.connect(() => { follower.visible = leader.visible; });
  }
  return drawn;
}

export function clear(place) {
  const figure = shown.get(place);
  shown.delete(place);
  if (!figure) return;
  for (const view of figure.views) view.remove();
  const at = Bokeh.documents.indexOf(figure.drawn);
  if (at >= 0) Bokeh.documents.splice(at, 1);
}
