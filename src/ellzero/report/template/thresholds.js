// Thresholds: whom the model flags, how often it is right, and whether that is worth more than flagging everyone or no one.

const Z = 1.959964; // of 95 % intervals
const HALF = 0.5;
const GROUPS = [
  ["found", "found"],
  ["missed", "missed"],
  ["alarm", "false alarms"],
  ["cleared", "correctly cleared"],
];

const hasThresholds = () => Boolean(report.thresholds);

// The share of the class among those whom the reader sees: as in the data, unless it was changed.
function prevalence() {
  const { value, dataset } = byId("prevalence");
  const entered = Number(value) / 100;
  return dataset.own && entered > 0 && entered < 1 ? entered : report.prevalence;
}

function startThreshold() {
  if (!hasThresholds()) {
    byId("threshold-section")?.remove();
    byId("benefit-section")?.remove();
    return;
  }
  const [slider, entry, back] = ["threshold", "prevalence", "prevalence-back"].map(byId);
  const positive = shorten(report.cases[1], 40);
  state.cut = report.thresholds.indexOf(HALF);
  slider.max = report.thresholds.length - 1;
  byId("threshold-label").textContent = `Flag as ${positive} above a probability of`;
  byId("prevalence-label").textContent = `Share of ${positive} among those you see`;
  back.textContent = `As in the data (${percent(report.prevalence)})`;
  const moved = () => showThreshold(report.models[state.at]);
  slider.addEventListener("input", () => {
    state.cut = Number(slider.value);
    moved();
  });
  const asInData = () => {
    entry.value = Number((100 * report.prevalence).toPrecision(3));
    entry.dataset.own = "";
  };
  entry.addEventListener("input", () => {
    entry.dataset.own = "yes";
    moved();
    showAnswer(report.models[state.at], state.c);
  });
  back.addEventListener("click", () => {
    asInData();
    moved();
    showAnswer(report.models[state.at], state.c);
    entry.focus();
  });
  asInData();
}

// Wilson's interval of a share that was seen in so many rows.
function interval(share, rows) {
  const [half, centre] = [(Z * Z) / (2 * rows), 1 + (Z * Z) / rows];
  const reach = Z * Math.sqrt((share * (1 - share)) / rows + (Z * Z) / (4 * rows * rows));
  return [(share + half - reach) / centre, (share + half + reach) / centre].map((end) => Math.max(0, Math.min(1, end)));
}

// Whole numbers in proportion to shares, which sum to `total`.
function apportion(shares, total) {
  const exact = shares.map((share) => share * total);
  const out = exact.map(Math.floor);
  const order = exact.map((value, i) => [value - out[i], i]).sort((a, b) => b[0] - a[0]);
  for (let i = 0, left = total - out.reduce((a, b) => a + b, 0); i < left; i++) out[order[i][1]] += 1;
  return out;
}

// The rows of the four groups: as counted, or imagined where weights or another share of the class leave no counts. So many are
// imagined that no group rounds to none.
function countsOf(parts, found, alarms) {
  if (!report.data.weighted && prevalence() === report.prevalence) {
    const [ill, well] = report.tested_rows;
    const [hits, wrong] = [Math.round(found * ill), Math.round(alarms * well)];
    return [ill + well, [hits, ill - hits, wrong, well - wrong]];
  }
  const base = [100, 1000, 10000].find((n) => parts.every((part) => part === 0 || n * part >= HALF)) || 100000;
  return [base, apportion(parts, base)];
}

function showThreshold(model) {
  if (!hasThresholds()) return;
  const threshold = report.thresholds[state.cut];
  const [found, alarms] = model.above[state.cut];
  const share = prevalence();
  const words = percent(threshold, threshold < 0.01 || threshold > 0.99 ? 1 : 0);
  byId("threshold").value = state.cut;
  byId("threshold").setAttribute("aria-valuetext", words);
  byId("threshold-now").textContent = words;
  byId("prevalence-back").disabled = !byId("prevalence").dataset.own;
  byId("threshold-note").textContent =
    `A lower threshold finds more cases and raises more false alarms. Counted on ${whole(report.tested)} held-out ` +
    `${report.subjects}, each predicted by a model of this size that had not seen it.`;
  const parts = [share * found, share * (1 - found), (1 - share) * alarms, (1 - share) * (1 - alarms)];
  const [base, counts] = countsOf(parts, found, alarms);
  drawPeople(byId("people"), counts, base);
  replace(
    byId("people-legend"),
    GROUPS.map(([kind, text], i) =>
      html(
        "li",
        {},
        html("span", { class: `swatch ${kind}` }),
        `${whole(counts[i])} ${counts[i] === 1 ? text.replace(/s$/, "") : text}`,
      ),
    ),
  );
  const called = counts[0] + counts[2];
  byId("threshold-words").textContent =
    `Of ${whole(base)} ${report.subjects}, ${whole(counts[0] + counts[1])} are ${report.cases[1]}: ${whole(counts[0])} are found, ` +
    `${whole(counts[1])} missed. ${whole(called)} are flagged, ${whole(counts[2])} of them wrongly.`;
  showMeasures(found, alarms, parts);
  showBenefit(model, threshold);
}

function showMeasures(found, alarms, [hits, misses, wrong, right]) {
  const [other, positive] = report.cases;
  const [ill, well] = report.tested_rows;
  const ends = (share, rows) =>
    interval(share, rows)
      .map((end) => fixed(100 * end, 1))
      .join(" to ");
  const rows = [
    ["sensitivity", found, ends(found, ill), `of those that are ${positive}, how many are found`],
    ["specificity", 1 - alarms, ends(1 - alarms, well), `of those that are ${other}, how many are cleared`],
    ["positive predictive value", hits / (hits + wrong), "", `of those flagged as ${positive}, how many are`],
    ["negative predictive value", right / (right + misses), "", `of those cleared, how many are ${other}`],
  ];
  const line = ([name, value, ends, words]) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, name, html("small", {}, words)),
      html("td", { class: "num" }, percent(value)),
      html("td", { class: "num" }, ends ? tied(`${ends} %`) : "–"),
    );
  replace(byId("measures"), tableHead(["measure"], ["held out", "95 % interval"]), html("tbody", {}, rows.map(line)));
  byId("measures-note").textContent =
    `Intervals are of the counts alone. The same ${report.subjects} chose the size, which makes the figures slightly optimistic. ` +
    "Predictive values depend on the share above; they hold elsewhere if sensitivity and specificity are the same there.";
}

// One dot each, of up to 1,000.
function drawPeople(box, counts, base) {
  if (base > 1000) {
    replace(box);
    return;
  }
  const [across, step] = base === 100 ? [10, 17] : [40, 8];
  const down = base / across;
  const label = GROUPS.map(([, text], i) => `${counts[i]} ${text}`).join(", ");
  const [width, height] = [across * step, down * step];
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  let at = 0;
  for (const [i, [kind]] of GROUPS.entries())
    for (let n = 0; n < counts[i]; n++, at++)
      svg.append(
        shape("circle", {
          cx: (at % across) * step + step / 2,
          cy: Math.floor(at / across) * step + step / 2,
          r: step * 0.39,
          class: `person ${kind}`,
        }),
      );
  replace(box, svg);
}

const benefitOf = (found, alarms, threshold) =>
  report.prevalence * found - (1 - report.prevalence) * alarms * (threshold / (1 - threshold));

function showBenefit(model, threshold) {
  const at = report.thresholds;
  const lines = [
    ["this model", "c0", at.map((t, i) => benefitOf(...model.above[i], t))],
    ["flag everyone", "c1", at.map((t) => benefitOf(1, 1, t))],
    ["flag no one", "c4", at.map(() => 0)],
  ];
  const top = Math.max(report.prevalence, ...lines[0][2]);
  const limits = [-0.12 * top, 1.06 * top];
  const chart = frame(byId("benefit"), {
    x: [0, 1],
    y: limits,
    xTicks: unitTicks,
    height: 280,
    xTitle: "threshold probability",
    yTitle: "net benefit",
    label: "Decision curve: net benefit of the model, of flagging everyone and of flagging no one, against the threshold",
  });
  nowLine(chart, threshold);
  for (const [, colour, values] of [...lines].reverse()) {
    const points = values.map((value, i) => (value >= limits[0] ? [chart.x(at[i]), chart.y(value)] : null));
    chart.plot.append(shape("path", { d: pathOf(points), class: "line", style: `stroke:var(--${colour})` }));
  }
  replace(
    byId("benefit-legend"),
    lines.map(([name, colour]) =>
      html("li", {}, html("span", { class: "swatch", style: `background:var(--${colour})` }), name),
    ),
  );
  const [own, all] = lines.map(([, , values]) => values[state.cut]);
  const worth = threshold <= HALF ? (1 - threshold) / threshold : threshold / (1 - threshold);
  const price =
    threshold <= HALF
      ? `accepting ${number(worth, 2)} false alarm${worth === 1 ? "" : "s"} for each case found`
      : `that one false alarm is as bad as ${number(worth, 2)} missed cases`;
  const per = (value) => number(100 * value, 2);
  const best = own > Math.max(all, 0) + 1e-12;
  byId("benefit-words").textContent =
    `Acting at ${percent(threshold, threshold < 0.01 || threshold > 0.99 ? 1 : 0)} means ${price}. For 100 ${report.subjects}, ` +
    `the model is then worth ${per(own)} cases found without a false alarm, flagging everyone ${per(all)}, flagging no one 0: ` +
    `${best ? "using the model is best" : "the model is no better than flagging " + (all > 0 ? "everyone" : "no one")}.`;
  byId("benefit-note").textContent =
    "Net benefit is the cases found minus the false alarms, weighted as the threshold implies. It is held out, with the share of " +
    `${report.cases[1]} in the data. The model is useful where its line is above both others.`;
  explain(chart.svg, (px) => {
    const i = nearest(at.map(chart.x), px);
    return {
      x: chart.x(at[i]),
      y: chart.y(Math.max(lines[0][2][i], limits[0])),
      lines: [
        `threshold ${percent(at[i], at[i] < 0.01 || at[i] > 0.99 ? 1 : 0)}`,
        ...lines.map(([name, , values]) => `${name}: ${number(values[i])}`),
      ],
    };
  });
}
