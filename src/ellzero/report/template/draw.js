// Elements, scales, axes and the tooltip: what every chart is made of. Text from the data only ever becomes a text node.

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const shape = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const replace = (node, ...children) => node.replaceChildren(...children.flat().filter((child) => child != null));

// Numbers as people write them: few digits, a true minus sign.
function number(value, digits = 3) {
  if (!known(value)) return "–";
  const size = Math.abs(value);
  const text =
    size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
  return text.replace("-", "−");
}
const known = (value) => value !== null && Number.isFinite(value);
const fixed = (value, digits) => (known(value) ? value.toFixed(digits).replace("-", "−") : "–");
const tied = (text) => text.replaceAll(" %", "\u00a0%"); // no line ends before a per cent sign
// A share says none, or all, only where that is so.
function percent(share, digits = 1) {
  if (!known(share)) return "–";
  const least = 10 ** -digits;
  if (share > 0 && 100 * share < least) return tied(`under ${fixed(least, digits)} %`);
  return tied(
    share < 1 && 100 * share > 100 - least ? `over ${fixed(100 - least, digits)} %` : `${fixed(100 * share, digits)} %`,
  );
}
const whole = (count) => Math.round(count).toLocaleString("en-GB");
const count = (n, one, many = one + "s") => `${whole(n)} ${n === 1 ? one : many}`;
const shorten = (text, most) => (text.length <= most ? text : text.slice(0, most - 1) + "…");

function linear(from, to, start, end) {
  const span = to - from || 1;
  return (value) => start + ((value - from) / span) * (end - start);
}

// Round steps of 1, 2 or 5 times a power of ten.
function ticks(from, to, most) {
  const span = to - from;
  if (!(span > 0)) return [from];
  const rough = span / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999999);
  const out = [];
  for (let t = Math.ceil(from / step - 1e-9) * step; t <= to + 1e-9 * span; t += step)
    out.push(Math.abs(t) < 1e-9 * step ? 0 : t);
  return out;
}
// On a logarithmic axis: 1, 2 and 5 times powers of ten.
function logTicks(from, to) {
  const out = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++)
    out.push(...[1, 2, 5].map((m) => m * 10 ** power));
  return out.filter((t) => t >= from && t <= to);
}
const wholeTicks = (from, to, most) => [...new Set(ticks(from, to, most).filter((t) => Math.abs(t - Math.round(t)) < 1e-9))];

function widen(low, high, share = 0.06) {
  if (!(high > low)) return [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1];
  const extra = (high - low) * share;
  return [low - extra, high + extra];
}

// A frame with axes: { svg, plot, x, y, inner } where x and y turn data into pixels. `square` makes both axes as long.
function frame(box, options) {
  const width = Math.max(box.clientWidth, 220);
  const margin = { top: 12, right: 14, bottom: 44, left: 56, ...(options.margin || {}) };
  const height = options.square
    ? Math.min(width - margin.left - margin.right, 340) + margin.top + margin.bottom
    : options.height;
  const right = options.square ? margin.left + height - margin.top - margin.bottom : width - margin.right;
  const bottom = height - margin.bottom;
  const x = linear(...options.x, margin.left, right);
  const level = options.logarithmic ? Math.log10 : (value) => value;
  const place = linear(...options.y.map(level), bottom, margin.top);
  const y = (value) => place(level(value));
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": options.label });
  const xTicks = options.xTicks || ticks(...options.x, Math.max(2, Math.floor((right - margin.left) / 70)));
  const yTicks = options.yTicks || ticks(...options.y, Math.max(2, Math.floor((bottom - margin.top) / 36)));
  const axes = shape("g", { class: "axes" });
  for (const t of yTicks) {
    axes.append(shape("line", { x1: margin.left, x2: right, y1: y(t), y2: y(t), class: "grid" }));
    axes.append(shape("text", { x: margin.left - 8, y: y(t) + 4, "text-anchor": "end" }, number(t, 4)));
  }
  for (const t of xTicks) {
    if (options.square) axes.append(shape("line", { x1: x(t), x2: x(t), y1: margin.top, y2: bottom, class: "grid" }));
    axes.append(shape("text", { x: x(t), y: bottom + 18, "text-anchor": "middle" }, number(t, 4)));
  }
  axes.append(shape("line", { x1: margin.left, x2: right, y1: bottom, y2: bottom, class: "base" }));
  axes.append(
    shape("text", { x: (margin.left + right) / 2, y: height - 6, "text-anchor": "middle", class: "title" }, options.xTitle),
  );
  if (options.yTitle) {
    const middle = (margin.top + bottom) / 2;
    axes.append(
      shape(
        "text",
        { transform: `translate(13 ${middle}) rotate(-90)`, "text-anchor": "middle", class: "title" },
        options.yTitle,
      ),
    );
  }
  const plot = shape("g", { class: "plot" });
  svg.append(axes, plot);
  replace(box, svg);
  return { svg, plot, x, y, left: margin.left, right, top: margin.top, bottom };
}

// A line through points; where one is missing (null), the line is broken.
const pathOf = (points) =>
  points
    .map((point, i) => (point ? `${i && points[i - 1] ? "L" : "M"}${point[0].toFixed(1)} ${point[1].toFixed(1)}` : ""))
    .join("");

// One tooltip for the page. `find(x, y)` takes a place inside the chart and answers { lines, x, y } or null.
function explain(svg, find) {
  const tip = byId("tip");
  const show = (event) => {
    const area = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / area.width;
    const found = find((event.clientX - area.left) * scale, (event.clientY - area.top) * scale);
    if (!found) return hide();
    replace(
      tip,
      found.lines.map((line, i) => html("div", { class: i ? null : "tip-head" }, line)),
    );
    tip.hidden = false;
    const left = area.left + found.x / scale + window.scrollX;
    const top = area.top + found.y / scale + window.scrollY;
    const room = document.documentElement.clientWidth;
    tip.style.left = `${Math.max(8, Math.min(left + 12, window.scrollX + room - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.max(window.scrollY + 4, top - tip.offsetHeight - 10)}px`;
  };
  const hide = () => {
    tip.hidden = true;
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", show);
  // A finger leaves the chart when it is lifted: what it pointed at stays until the next touch.
  svg.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") hide();
  });
}

const nearest = (values, wanted) =>
  values.reduce((best, value, i) => (Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? i : best), 0);
