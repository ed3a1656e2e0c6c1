// An input that is drawn: points that are dragged, added by a click, or typed as numbers.
import { h, refill, within } from "../tools/dom.js";

const WIDTH = 600;
const HEIGHT = 160;
const NEAR = 12; // pixels within which a pointer takes a point
const SVG = "http://www.w3.org/2000/svg";

export function drawingPane({ name, shape, rows, low, high, changed }) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("class", "draw");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", `Drawn input ${name}; the same points can be typed below`);
  const typed = h("div", {});
  let held = null;
  const span = () => {
    const values = shape.points.map((point) => point[1]);
    const bottom = Math.min(low, ...values);
    const top = Math.max(high, ...values);
    const margin = 0.08 * (top - bottom || 1);
    return [bottom - margin, top + margin];
  };
  const toPlace = ([row, value]) => {
    const [bottom, top] = span();
    return [(row / Math.max(rows() - 1, 1)) * WIDTH, HEIGHT - ((value - bottom) / (top - bottom)) * HEIGHT];
  };

  function toPoint(event) {
    const box = picture.getBoundingClientRect();
    const [bottom, top] = span();
    const across = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const up = Math.min(1, Math.max(0, 1 - (event.clientY - box.top) / box.height));
    return [Math.round(across * (rows() - 1)), Number(within(bottom + up * (top - bottom), bottom, top, 4))];
  }

  function nearest(event) {
    const box = picture.getBoundingClientRect();
    const away = shape.points.map((point) => {
      const [x, y] = toPlace(point);
      return Math.hypot((x / WIDTH) * box.width - (event.clientX - box.left), (y / HEIGHT) * box.height - (event.clientY - box.top));
    });
    const best = away.indexOf(Math.min(...away));
    return away[best] < NEAR ? best : null;
  }

  function draw() {
    const points = [...shape.points].sort((one, other) => one[0] - other[0]);
    const ends = [[0, points[0][1]], ...points, [rows() - 1, points.at(-1)[1]]];
    const line = document.createElementNS(SVG, "polyline");
    line.setAttribute("points", ends.map((point) => toPlace(point).join(",")).join(" "));
    line.setAttribute("fill", "none");
    line.setAttribute("stroke", "#1f4e79");
    line.setAttribute("stroke-width", "2");
    line.setAttribute("vector-effect", "non-scaling-stroke");
    const dots = shape.points.map((point) => {
      const dot = document.createElementNS(SVG, "ellipse");
      const [x, y] = toPlace(point);
      const box = picture.getBoundingClientRect();
      dot.setAttribute("cx", x);
      dot.setAttribute("cy", y);
      dot.setAttribute("rx", box.width ? (5 * WIDTH) / box.width : 5);
      dot.setAttribute("ry", 5);
      dot.setAttribute("fill", "#b8480f");
      return dot;
    });
    picture.replaceChildren(line, ...dots);
  }

  function redraw() {
    draw();
    list();
  }

  function list() {
    refill(typed, h("details", { open: opened }, h("summary", {}, "Points as numbers"),
      shape.points.map((point, at) => h("div", { className: "row" },
        ...["row", "value"].map((words, part) => h("label", {}, `${words} `, h("input", {
          type: "number", step: "any", value: point[part], "aria-label": `${name}: ${words} of point ${at + 1}`,
          // The fields stay: the key that ended the typing is on its way to the next one.
          onchange: (event) => { point[part] = Number(event.target.value); draw(); changed(); },
        }))),
        shape.points.length > 1 ? h("button", {
          type: "button", "aria-label": `Remove point ${at + 1}`,
          onclick: () => { shape.points.splice(at, 1); redraw(); changed(); },
        }, "×") : null)),
      h("button", {
        type: "button", onclick: () => { shape.points.push([rows() - 1, shape.points.at(-1)[1]]); redraw(); changed(); },
      }, "Add a point")));
    typed.firstChild.addEventListener("toggle", () => { opened = typed.firstChild?.open ?? false; });
  }

  let opened = false;
  picture.addEventListener("pointerdown", (event) => {
    held = nearest(event);
    if (held === null) held = shape.points.push(toPoint(event)) - 1;
    picture.setPointerCapture(event.pointerId);
    redraw();
  });
  picture.addEventListener("pointermove", (event) => {
    if (held === null) return;
    shape.points[held] = toPoint(event);
    redraw();
    changed();
  });
  picture.addEventListener("pointerup", () => { held = null; changed(); });
  requestAnimationFrame(redraw);
  return h("div", {}, picture,
    h("p", { className: "soft small" }, "Drag a point, or click where a new one is wanted."), typed);
}
