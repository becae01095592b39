// The charts. Each takes its box and what it shows, and draws itself again when the size of the model or of the window changes.

const PALETTE = 8; // colours --c0 ... --c7 of the style sheet
const MOST_STABLE = 30; // features of the stability chart
const STEEP = 3; // losses that differ by this factor are drawn on a logarithmic axis

function sizeAxis(box) {
  const sizes = report.models.map((model) => model.k);
  const [low, high] = [sizes[0], sizes[sizes.length - 1]];
  const room = Math.max(2, Math.floor(box.clientWidth / 60));
  return { range: high > low ? [low - 0.4, high + 0.4] : [low - 1, high + 1], sizes, ticks: wholeTicks(low, high, room) };
}

function nowLine(chart, k) {
  chart.plot.append(shape("line", { x1: chart.x(k), x2: chart.x(k), y1: chart.top, y2: chart.bottom, class: "now-line" }));
}

// Held-out score of every size with error bars; a click chooses a size.
function drawScore(box, at, choose) {
  const axis = sizeAxis(box);
  const { sign, score_name: name, chosen } = report.selection;
  const score = report.models.map((model) => sign * model.score);
  const error = report.models.map((model) => model.error || 0);
  const [low, high] = [Math.min(...score.map((s, i) => s - error[i])), Math.max(...score.map((s, i) => s + error[i]))];
  // A loss that falls to a fraction of its first value shows its differences on a logarithmic axis only.
  const logarithmic = sign < 0 && low > 0 && high > STEEP * low;
  const limits = logarithmic ? [low / 1.12, high * 1.12] : widen(low, high);
  const chart = frame(box, {
    x: axis.range,
    y: limits,
    xTicks: axis.ticks,
    height: 280,
    xTitle: `${report.unit}s in the model`,
    yTitle: name,
    logarithmic,
    yTicks: logarithmic ? logTicks(...limits) : null,
    label: `${name} against model size; ${number(score[chosen])} at the chosen size`,
  });
  nowLine(chart, axis.sizes[at]);
  const points = axis.sizes.map((k, i) => [chart.x(k), chart.y(score[i])]);
  for (const [i, [px]] of points.entries()) {
    if (error[i])
      chart.plot.append(
        shape("line", { x1: px, x2: px, y1: chart.y(score[i] - error[i]), y2: chart.y(score[i] + error[i]), class: "error" }),
      );
  }
  chart.plot.append(shape("path", { d: pathOf(points), class: "line" }));
  for (const [i, [cx, cy]] of points.entries()) {
    const kind = `dot${i === chosen ? " chosen" : ""}${i === at ? " now" : ""}`;
    chart.plot.append(shape("circle", { cx, cy, r: i === at ? 6 : i === chosen ? 5 : 3, class: kind }));
  }
  const pixels = points.map(([px]) => px);
  explain(chart.svg, (px) => {
    const i = nearest(pixels, px);
    return {
      x: points[i][0],
      y: points[i][1],
      lines: [sizeWords(report.models[i]), `${name}: ${number(score[i], 4)}${error[i] ? ` ± ${number(error[i], 2)}` : ""}`],
    };
  });
  chart.svg.addEventListener("click", (event) => {
    const area = chart.svg.getBoundingClientRect();
    choose(nearest(pixels, event.clientX - area.left));
  });
  chart.svg.classList.add("clickable");
}

// The effect of each feature of one class in the models of all sizes.
function effectsAlong(c) {
  const lines = new Map();
  report.models.forEach((model, i) => {
    for (const [f, value] of model.coef[c]) {
      if (!lines.has(f))
        lines.set(
          f,
          report.models.map(() => 0),
        );
      lines.get(f)[i] = value * report.features[f].spread;
    }
  });
  const stays = (values) => values.filter((value) => value !== 0).length;
  return [...lines].map(([f, values]) => ({ f, values, stays: stays(values) })).sort((a, b) => b.stays - a.stays || a.f - b.f);
}

function drawAlong(box, legend, at, c) {
  const axis = sizeAxis(box);
  const lines = effectsAlong(c);
  const all = lines.flatMap((line) => line.values);
  const chart = frame(box, {
    x: axis.range,
    y: widen(Math.min(0, ...all), Math.max(0, ...all)),
    xTicks: axis.ticks,
    height: 320,
    xTitle: `${report.unit}s in the model`,
    yTitle: "effect of one standard deviation",
    label: "Effects of the features in the models of all sizes",
  });
  chart.plot.append(shape("line", { x1: chart.left, x2: chart.right, y1: chart.y(0), y2: chart.y(0), class: "base" }));
  nowLine(chart, axis.sizes[at]);
  const drawn = lines.map((line, rank) => {
    const points = line.values.map((value, i) => [chart.x(axis.sizes[i]), chart.y(value)]);
    const colour = rank < PALETTE ? `var(--c${rank})` : "var(--faint)";
    // A line begins at zero one size before the feature enters and ends there one after it leaves.
    const part = points.map((point, i) => ([i - 1, i, i + 1].some((j) => line.values[j]) ? point : null));
    return { ...line, points, node: shape("path", { d: pathOf(part), class: "line thin", style: `stroke:${colour}` }), colour };
  });
  for (const line of [...drawn].reverse()) chart.plot.append(line.node);
  for (const line of drawn) {
    if (line.values[at])
      chart.plot.append(
        shape("circle", { cx: line.points[at][0], cy: line.points[at][1], r: 4, style: `fill:${line.colour}` }),
      );
  }
  replace(
    legend,
    drawn
      .slice(0, PALETTE)
      .map((line) =>
        html(
          "li",
          {},
          html("span", { class: "swatch", style: `background:${line.colour}` }),
          shorten(report.features[line.f].name, 40),
        ),
      ),
  );
  if (drawn.length > PALETTE) legend.append(html("li", { class: "muted" }, `${whole(drawn.length - PALETTE)} others in grey`));
  explain(chart.svg, (px, py) => {
    const i = nearest(axis.sizes.map(chart.x), px);
    const here = drawn.filter((line) => line.values[i]);
    if (!here.length) return null;
    const line =
      here[
        nearest(
          here.map((l) => l.points[i][1]),
          py,
        )
      ];
    return {
      x: line.points[i][0],
      y: line.points[i][1],
      lines: [report.features[line.f].name, `${sizeWords(report.models[i])}: ${number(line.values[i])}`],
    };
  });
}

const unitTicks = [0, 0.2, 0.4, 0.6, 0.8, 1];

// Shares against shares, with the line on which they are equal.
function unitSquare(box, words) {
  const chart = frame(box, { x: [0, 1], y: [0, 1], xTicks: unitTicks, yTicks: unitTicks, square: true, ...words });
  chart.plot.append(shape("line", { x1: chart.x(0), y1: chart.y(0), x2: chart.x(1), y2: chart.y(1), class: "diagonal" }));
  return chart;
}

// One curve, or one per class with the chosen class in front.
function drawRoc(box, model, c) {
  const words = model.roc[c] ? `ROC curve, area ${fixed(model.roc[c].auc, 3)}` : "No ROC curve";
  const chart = unitSquare(box, {
    xTitle: "false positive rate",
    yTitle: "true positive rate",
    label: words,
  });
  const curves = model.roc
    .map((curve, i) => ({ curve, i }))
    .filter(({ curve }) => curve)
    .sort((a, b) => (a.i === c) - (b.i === c));
  for (const { curve, i } of curves) {
    const points = curve.points.map(([fx, ty]) => [chart.x(fx), chart.y(ty)]);
    if (i === c)
      chart.plot.append(
        shape("path", { d: pathOf([...points, [chart.x(1), chart.y(0)], [chart.x(0), chart.y(0)]]), class: "under" }),
      );
    chart.plot.append(shape("path", { d: pathOf(points), class: i === c ? "line" : "line other" }));
  }
  const front = model.roc[c];
  if (!front) return;
  const pixels = front.points.map(([fx, ty]) => [chart.x(fx), chart.y(ty)]);
  explain(chart.svg, (px, py) => {
    const i = nearest(
      pixels.map(([qx, qy]) => Math.hypot(qx - px, qy - py)),
      0,
    );
    const [fx, ty] = front.points[i];
    return {
      x: pixels[i][0],
      y: pixels[i][1],
      lines: [`${percent(ty)} of the positives found`, `${percent(fx)} of the negatives wrongly flagged`],
    };
  });
}

function drawCalibration(box, model, c) {
  const { bins } = model.calibration[c];
  const chart = unitSquare(box, {
    xTitle: "predicted probability",
    yTitle: "observed share",
    label: "Calibration: predicted probability against the observed share",
  });
  const points = bins.map(([mean, share]) => [chart.x(mean), chart.y(share)]);
  for (const [i, [, share, rows]] of bins.entries()) {
    // About two standard errors of a share: what chance alone would do.
    const reach = 2 * Math.sqrt((share * (1 - share)) / Math.max(rows, 1));
    const [low, high] = [Math.max(0, share - reach), Math.min(1, share + reach)];
    chart.plot.append(
      shape("line", { x1: points[i][0], x2: points[i][0], y1: chart.y(low), y2: chart.y(high), class: "error" }),
    );
  }
  chart.plot.append(shape("path", { d: pathOf(points), class: "line" }));
  for (const [cx, cy] of points) chart.plot.append(shape("circle", { cx, cy, r: 4, class: "dot chosen" }));
  explain(chart.svg, (px) => {
    const i = nearest(
      points.map(([qx]) => qx),
      px,
    );
    const [mean, share, rows] = bins[i];
    return {
      x: points[i][0],
      y: points[i][1],
      lines: [`predicted ${percent(mean)}`, `observed ${percent(share)} of ${whole(rows)} rows`],
    };
  });
}

// Held-out rows as points: predicted against true, or residuals against predicted.
function drawCloud(box, points, options) {
  const chart = frame(box, { square: true, margin: { left: 64 }, ...options });
  const [from, to] = options.line;
  chart.plot.append(
    shape("line", { x1: chart.x(from[0]), y1: chart.y(from[1]), x2: chart.x(to[0]), y2: chart.y(to[1]), class: "diagonal" }),
  );
  const pixels = points.map(([px, py]) => [chart.x(px), chart.y(py)]);
  for (const [cx, cy] of pixels)
    chart.plot.append(shape("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: 2.5, class: "cloud" }));
  explain(chart.svg, (px, py) => {
    const far = pixels.map(([qx, qy]) => Math.hypot(qx - px, qy - py));
    const i = nearest(far, 0);
    if (far[i] > 24) return null;
    return {
      x: pixels[i][0],
      y: pixels[i][1],
      lines: [`true ${number(report.truth[i], 4)}`, `predicted ${number(options.predicted[i], 4)}`],
    };
  });
}

function drawScatter(box, { predicted, r2 }) {
  const both = [...report.truth, ...predicted];
  const limits = widen(Math.min(...both), Math.max(...both), 0.04);
  drawCloud(
    box,
    report.truth.map((value, i) => [value, predicted[i]]),
    {
      predicted,
      x: limits,
      y: limits,
      line: limits.map((end) => [end, end]),
      xTitle: "true, held out",
      yTitle: "predicted",
      label: `Predicted against true, R squared ${fixed(r2, 3)}`,
    },
  );
}

function drawResiduals(box, { predicted }) {
  const rest = report.truth.map((value, i) => value - predicted[i]);
  const most = Math.max(...rest.map(Math.abs)) * 1.05 || 1;
  const across = widen(Math.min(...predicted), Math.max(...predicted), 0.04);
  drawCloud(
    box,
    predicted.map((value, i) => [value, rest[i]]),
    {
      predicted,
      x: across,
      y: [-most, most],
      line: across.map((end) => [end, 0]),
      xTitle: "predicted",
      yTitle: "true − predicted",
      label: "Residuals",
    },
  );
}

// Rows are features, columns sizes; the stronger the colour, the more folds use the feature; a dot: the model of all rows does.
function stableFeatures() {
  const total = new Map();
  for (const model of report.models) for (const [f, share] of model.use) total.set(f, (total.get(f) || 0) + share);
  for (const model of report.models) for (const own of model.coef) for (const [f] of own) if (!total.has(f)) total.set(f, 0);
  return [...total]
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, MOST_STABLE)
    .map(([f]) => f);
}

function drawStability(box, at) {
  const rows = stableFeatures();
  const names = rows.map((f) => shorten(report.features[f].name, box.parentNode.clientWidth < 480 ? 12 : 22));
  const left = 14 + 7.6 * Math.max(3, ...names.map((name) => name.length));
  const columns = report.models.length;
  const cell = Math.max(11, Math.min(56, (box.parentNode.clientWidth - left - 8) / columns));
  const [height, top, width] = [20, 6, left + cell * columns + 4];
  const bottom = top + height * rows.length;
  const svg = shape("svg", {
    viewBox: `0 0 ${width} ${bottom + 44}`,
    width,
    height: bottom + 44,
    role: "img",
    "aria-label": "How many folds used each feature at each size",
  });
  const use = report.models.map((model) => new Map(model.use));
  const own = report.models.map((model) => new Set(model.coef.flat().map(([f]) => f)));
  for (const [r, f] of rows.entries()) {
    svg.append(shape("text", { x: left - 8, y: top + height * r + 14, "text-anchor": "end" }, names[r]));
    for (let i = 0; i < columns; i++) {
      const share = use[i].get(f) || 0;
      const [x, y] = [left + cell * i, top + height * r];
      svg.append(
        shape("rect", {
          x: x + 0.5,
          y: y + 0.5,
          width: cell - 1,
          height: height - 1,
          rx: 2,
          class: "cell",
          style: `fill-opacity:${(0.05 + 0.95 * share).toFixed(2)}`,
        }),
      );
      if (own[i].has(f))
        svg.append(shape("circle", { cx: x + cell / 2, cy: y + height / 2, r: 2.6, class: share > 0.5 ? "in light" : "in" }));
    }
  }
  svg.append(shape("rect", { x: left + cell * at, y: top - 2, width: cell, height: bottom - top + 4, rx: 3, class: "frame" }));
  const every = Math.ceil(26 / cell);
  report.models.forEach((model, i) => {
    if (i % every === 0)
      svg.append(shape("text", { x: left + cell * (i + 0.5), y: bottom + 17, "text-anchor": "middle" }, String(model.k)));
  });
  svg.append(
    shape(
      "text",
      { x: left + (cell * columns) / 2, y: bottom + 38, "text-anchor": "middle", class: "title" },
      `${report.unit}s in the model`,
    ),
  );
  replace(box, rows.length ? svg : html("p", { class: "muted" }, "No model uses any feature."));
  explain(svg, (px, py) => {
    const [i, r] = [Math.floor((px - left) / cell), Math.floor((py - top) / height)];
    if (i < 0 || i >= columns || r < 0 || r >= rows.length) return null;
    const folds = Math.round((use[i].get(rows[r]) || 0) * report.selection.folds);
    const mine = own[i].has(rows[r]) ? "in the model of all rows" : "not in the model of all rows";
    return {
      x: left + cell * (i + 0.5),
      y: top + height * r,
      lines: [
        report.features[rows[r]].name,
        `${sizeWords(report.models[i])}: ${folds} of ${report.selection.folds} folds`,
        mine,
      ],
    };
  });
}
