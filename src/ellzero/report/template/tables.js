// Tables, figures and words.

const tableHead = (words, numbers) =>
  html(
    "thead",
    {},
    html(
      "tr",
      {},
      words.map((text) => html("th", { scope: "col" }, text)),
      numbers.map((text) => html("th", { scope: "col", class: "num" }, text)),
    ),
  );
const MOST_WORDS = 12; // features whose odds ratio is put into words
const likelihood = () => report.loss === "logistic" || report.loss === "multinomial"; // whether scores are probabilities, too
const fact = (name, value) => [html("dt", {}, name), html("dd", {}, value)];

function sizeWords(model) {
  if (report.kind === "multiclass" && !report.shared)
    return `${count(model.k, report.unit)} per class${model.k ? ` (${whole(model.size)} in all)` : ""}`;
  return model.size === model.k
    ? count(model.k, report.unit)
    : `at most ${count(model.k, report.unit)} (uses ${whole(model.size)})`;
}

function scoreWords(model) {
  const { sign, score_name: name } = report.selection;
  return `${name} ${number(sign * model.score)}${model.error ? ` ± ${number(model.error, 2)}` : ""}`;
}

// How a model of the size that is shown does, in words.
function fitWords(model) {
  if (report.kind !== "binary") return [scoreWords(model), mainFigure(model).join(" ")];
  const [[cleared, alarms], [missed, found]] = model.confusion;
  return [
    `finds ${percent(found / (found + missed))}, wrongly flags ${percent(alarms / (cleared + alarms))}`,
    mainFigure(model).join(" "),
  ];
}

// The figure that says most of a model: how well it tells classes apart, or explains a response.
function mainFigure(model) {
  if (report.kind === "regression") return ["R²", fixed(model.r2, 3)];
  const areas = model.roc.filter((curve) => curve).map((curve) => curve.auc);
  if (!areas.length) return ["accuracy", percent(model.accuracy)];
  return [areas.length === 1 ? "AUC" : "mean AUC", area(areas.reduce((sum, own) => sum + own, 0) / areas.length)];
}

function showHeadline() {
  byId("plain").textContent = tied(report.plain);
  byId("lead").textContent = report.lead;
  showCautions(byId("cautions"), report.models[report.selection.chosen]);
}

// Figures of predictions, with what they mean: value, and ends of the 95 % interval where it is known.
function figuresOf(fit, c) {
  if (report.kind === "regression") {
    const within = (part, value) => [`off by at most this, ${part}`, "absolute error", number(value)];
    return [
      ["R²", "share of the variance explained; 1 is perfect, 0 is the mean", area(fit.r2)],
      [
        "root mean squared error",
        `the standard deviation of ${report.target} is ${number(report.data.response.sd)}`,
        number(fit.rmse),
      ],
      within("half of the predictions", fit.half_within),
      within("nine in ten", fit.most_within),
    ];
  }
  const curve = fit.roc[c];
  const { brier, line } = fit.calibration ? fit.calibration[c] : {};
  const whose = report.kind === "multiclass" ? `, ${report.classes[c]} against the rest` : "";
  const out = [
    ["correct overall", `always guessing the most common class: ${percent(report.baseline)}`, percent(fit.accuracy)],
  ];
  if (curve) out.unshift([`AUC${whose}`, "1 is perfect, 0.5 is guessing", area(curve.auc), curve.interval.map(area)]);
  if (line) {
    const row = ([value, ...ends]) => [fixed(value, 2), ends.map((end) => fixed(end, 2))];
    out.push(["calibration slope", "1 is ideal; below 1, predictions are too extreme", ...row(line.slope)]);
    out.push(["calibration intercept", "0 is ideal; above 0, probabilities are too low", ...row(line.intercept)]);
  }
  if (brier !== undefined) out.push(["Brier score", "mean squared error of the probability; 0 is perfect", fixed(brier, 3)]);
  return out;
}

// A figure at most one, which is one only if nothing is wrong.
const area = (value) => (value < 1 && value > 0.9995 ? "over 0.999" : fixed(value, 3));

function showFit(model, c) {
  const columns = [["held out", model], ...(report.ridge ? [[report.ridge.title, report.ridge]] : [])];
  if (model.test) columns.push([report.test.title, model.test]);
  const tables = columns.map(([, fit]) => new Map(figuresOf(fit, c).map(([name, , ...cells]) => [name, cells])));
  const cell = ([value, ends] = ["–"]) =>
    html("td", { class: "num" }, value, ends ? html("small", {}, ends.join(" to ")) : null);
  const rows = figuresOf(model, c).map(([name, words]) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, name, html("small", {}, words)),
      tables.map((table) => cell(table.get(name))),
    ),
  );
  const titles = columns.map(([title]) => title);
  replace(byId("fit"), tableHead(["measure"], titles), html("tbody", {}, rows));
  byId("fit-note").textContent = [
    `Held out: the folds' models of this size predicted ${whole(report.tested)} ${report.subjects} that they had not seen.`,
    report.kind === "regression" ? "" : "Small figures are 95 % intervals.",
    report.ridge ? report.ridge.words : "",
    model.test ? report.test.words : "",
  ].join(" ");
}

// What the data hardly carries, in amber: a proof of the search does not make up for it.
function showCautions(place, model) {
  const cautions = model.cautions || [];
  place.hidden = !cautions.length;
  replace(
    place,
    html("b", {}, "Be careful. "),
    cautions.map((text) => html("p", {}, text)),
  );
}

const effectBar = (effect, largest) =>
  html(
    "span",
    { class: "bar", "aria-hidden": "true" },
    html("span", { class: effect < 0 ? "minus" : "plus", style: `width:${((50 * Math.abs(effect)) / largest).toFixed(1)}%` }),
  );

// The odds ratio of a feature: of a number per standard deviation, of a yes or no, or of a category against the reference.
function ratioOf({ f, effect }, coef) {
  const variable = variableOf(f);
  if (variable.kind === "number") return [Math.exp(effect), null];
  if (variable.kind === "flag") return [Math.exp(coef.get(f)), "yes against no"];
  const usual = variable.options[variable.typical];
  const own = variable.options.find(({ sets }) => sets.some(([g]) => g === f));
  return own === usual
    ? [1, "reference"]
    : [Math.exp(scoreOfOption(own, coef) - scoreOfOption(usual, coef)), `against ${usual.label}`];
}

function showCoefficients(model, c) {
  const folds = new Map(model.use);
  const rows = model.coef[c].map(([f, value]) => ({ f, value, effect: value * report.features[f].spread }));
  rows.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
  const largest = Math.max(...rows.map((row) => Math.abs(row.effect)), 1e-300);
  const odds = report.loss === "logistic";
  const coef = new Map(model.coef[c]);
  const ratioCell = ([ratio, words]) => html("td", { class: "num ratio" }, number(ratio), words && html("small", {}, words));
  const cells = (row) => [
    html("th", { scope: "row", title: report.features[row.f].name }, report.features[row.f].name),
    html("td", { class: "num" }, number(row.value, 4)),
    html(
      "td",
      { class: "bar-cell" },
      html("div", { class: "effect" }, html("span", { class: "num" }, number(row.effect)), effectBar(row.effect, largest)),
    ),
    odds ? ratioCell(ratioOf(row, coef)) : null,
    html("td", { class: "num" }, `${Math.round((folds.get(row.f) || 0) * report.selection.folds)}/${report.selection.folds}`),
  ];
  const intercept = [
    html("th", { scope: "row" }, "intercept"),
    html("td", { class: "num" }, number(model.intercept[c], 4)),
    html("td"),
    odds ? html("td", { class: "ratio" }) : null,
    html("td"),
  ];
  const head = html(
    "thead",
    {},
    html(
      "tr",
      {},
      html("th", { scope: "col" }, "feature"),
      html("th", { scope: "col", class: "num" }, "coefficient"),
      html("th", { scope: "col" }, "per standard deviation"),
      odds ? html("th", { scope: "col", class: "num ratio" }, "odds ratio") : null,
      html("th", { scope: "col", class: "num" }, "folds"),
    ),
  );
  replace(
    byId("coef"),
    head,
    html(
      "tbody",
      {},
      rows.map((row) => html("tr", {}, cells(row))),
      html("tr", { class: "muted" }, intercept),
    ),
  );
  showCautions(byId("model-cautions"), model);
  showClasses(model);
  showOdds(rows, c);
  const what = report.kind === "regression" ? `raises the prediction of ${report.target}` : `makes ${caseOf(c)} more likely`;
  byId("coef-note").textContent = rows.length
    ? `${sizeWords(model)}, fitted on all ${report.subjects}. A positive coefficient ${what}. ` +
      `“Folds” counts the folds whose model of this size also uses the feature.${odds ? " Odds ratios of numbers are per standard deviation." : ""}`
    : "No features: the model is its intercept, the same prediction for every row.";
  byId("in-full").hidden = !rows.length || rows.length > MOST_WORDS;
  replace(byId("in-full"), formulaLines(model, c, rows));
}

// The model as people write it down.
function formulaLines(model, c, rows) {
  const term = ({ f, value }) =>
    html("span", {}, `${value < 0 ? "−" : "+"} ${number(Math.abs(value), 4)} × ${report.features[f].name} `);
  const name =
    report.kind === "regression" ? report.target : report.kind === "multiclass" ? `score of ${report.classes[c]}` : "score";
  const share = { logistic: "1 / (1 + exp(−score))", multinomial: "exp(score) / sum of exp(score) over the classes" }[
    report.loss
  ];
  const before =
    report.loss === "logistic" && report.kind === "multiclass" ? " (before division by the sum over the classes)" : "";
  const rule = `${report.classes[1]} if score > 0, else ${report.classes[0]}`;
  const end = share ? `probability of ${caseOf(c)} = ${share}${before}` : report.kind === "binary" ? rule : null;
  const first = html("p", {}, `${name} = ${number(model.intercept[c], 4)} `, rows.map(term));
  return end ? [first, html("p", {}, end)] : [first];
}

// The coefficients of all classes: a row for each feature that any of them uses, a column for each class.
function showClasses(model) {
  if (report.kind !== "multiclass") return;
  const classes = model.coef.map((pairs) => new Map(pairs));
  const largest = (f) => Math.max(...classes.map((coef) => Math.abs(coef.get(f) || 0)));
  const used = [...new Set(classes.flatMap((coef) => [...coef.keys()]))];
  used.sort((a, b) => largest(b) * report.features[b].spread - largest(a) * report.features[a].spread);
  byId("coef-classes").hidden = !used.length;
  const line = (name, values) =>
    html(
      "tr",
      {},
      html("th", { scope: "row", title: name }, name),
      values.map((value) => html("td", { class: "num" }, value === undefined ? "" : number(value, 4))),
    );
  const lines = used.map((f) =>
    line(
      report.features[f].name,
      classes.map((coef) => coef.get(f)),
    ),
  );
  const table = html(
    "table",
    {},
    tableHead(["feature"], report.classes),
    html("tbody", {}, lines, line("intercept", model.intercept)),
  );
  replace(byId("coef-classes"), html("h3", {}, "All classes"), html("div", { class: "scroll" }, table));
}

// What rows of the class are called whose model is shown: of two classes, the second one's.
const caseOf = (c) => report.cases[report.kind === "binary" ? 1 : c];
const variableOf = (f) => report.variables.find((variable) => variable.features.includes(f));

// What one step of a variable does to the odds, in words: a standard deviation of a number, yes instead of no, or another value
// of a choice instead of the most common one.
const scoreOfOption = ({ sets }, coef) => sets.reduce((sum, [f, set]) => sum + set * (coef.get(f) || 0), 0);
function oddsSteps(variable, coef) {
  const score = (option) => scoreOfOption(option, coef);
  if (variable.kind === "number") {
    const { spread } = report.features[variable.features[0]];
    return [[`${number(spread)} more (one standard deviation)`, coef.get(variable.features[0]) * spread]];
  }
  if (variable.kind === "flag") return [["yes instead of no", score(variable.options[1])]];
  const usual = variable.options[variable.typical];
  return variable.options
    .filter((option) => score(option) !== score(usual))
    .map((option) => [`${option.label}, instead of ${usual.label} (the most common)`, score(option) - score(usual)]);
}

function oddsWords(variable, coef, c) {
  return oddsSteps(variable, coef).map(([step, effect]) => {
    const does = `${effect >= 0 ? "multiplies" : "divides"} the odds of ${caseOf(c)} by`;
    return html(
      "li",
      {},
      html("b", {}, variable.name),
      `: ${step} ${does} `,
      html("b", {}, number(Math.exp(Math.abs(effect)))),
      ".",
    );
  });
}

function showOdds(rows, c) {
  byId("odds").hidden = report.loss !== "logistic" || !rows.length;
  if (byId("odds").hidden) return;
  const coef = new Map(rows.map(({ f, value }) => [f, value]));
  const words = [...new Set(rows.map(({ f }) => variableOf(f)))].flatMap((variable) => oddsWords(variable, coef, c));
  replace(
    byId("odds-words"),
    words.slice(0, MOST_WORDS),
    words.length > MOST_WORDS ? html("li", { class: "muted" }, `${whole(words.length - MOST_WORDS)} more.`) : null,
  );
  byId("odds-note").textContent = tied(
    "Each with all other features of the model unchanged. A probability of 20 % is odds of 1 to 4; multiplied by 2, they are 2 to 4, " +
      `or 33 %. These ratios describe the prediction, not causes. The same ${report.subjects} chose the features, and shrinkage makes ` +
      "coefficients smaller; for intervals, use ez.inference, which measures on another half of the data.",
  );
}

function showConfusion(model) {
  const table = model.confusion;
  const total = table.map((row) => row.reduce((sum, value) => sum + value, 0));
  const names = report.classes;
  const cell = (value, r, c) => {
    const share = total[r] ? value / total[r] : 0;
    return html(
      "td",
      { class: r === c ? "right" : "wrong", style: `--share:${(100 * share).toFixed(1)}%` },
      html("b", {}, report.data.weighted ? number(value) : whole(value)),
      html("small", {}, percent(share)),
    );
  };
  const head = html(
    "thead",
    {},
    html(
      "tr",
      {},
      html("th", { scope: "col" }, "true \\ predicted"),
      names.map((name) => html("th", { scope: "col", title: name }, name)),
    ),
  );
  replace(
    byId("confusion"),
    head,
    html(
      "tbody",
      {},
      table.map((row, r) =>
        html(
          "tr",
          {},
          html("th", { scope: "row", title: names[r] }, names[r]),
          row.map((value, c) => cell(value, r, c)),
        ),
      ),
    ),
  );
  const what = report.data.weighted ? `Weights of the held-out ${report.subjects}` : `Held-out ${report.subjects}`;
  byId("confusion-note").textContent =
    `${what} by their true class and their prediction, by a model of this size that had not seen them. ` +
    "Percentages are of the true class.";
  const recall = table.map((row, r) => (total[r] ? row[r] / total[r] : NaN));
  const seen = recall.filter(Number.isFinite);
  const facts = [
    fact("accuracy", percent(model.accuracy)),
    fact("balanced accuracy", percent(seen.reduce((a, b) => a + b, 0) / seen.length)),
  ];
  if (report.kind === "binary") {
    const called = table[0][1] + table[1][1];
    facts.push(
      fact(`recall of ${shorten(names[1], 20)}`, percent(recall[1])),
      fact(`precision of ${shorten(names[1], 20)}`, percent(called ? table[1][1] / called : NaN)),
    );
  }
  replace(
    byId("rates"),
    facts.map((pair) => html("div", {}, pair)),
  );
}

function showCurves(model, c) {
  const curve = model.roc[c];
  const against =
    report.kind === "binary" ? `${report.positive[0]} against ${report.classes[0]}` : `${report.positive[c]} against the rest`;
  replace(
    byId("roc-note"),
    curve
      ? [html("b", { id: "auc" }, `AUC ${area(curve.auc)}`), `: ${against}, all held-out ${report.subjects} together.`]
      : "A ROC curve needs held-out rows of both classes.",
  );
  drawRoc(byId("roc"), model, c);
  if (!model.calibration) {
    byId("calibration-note").textContent =
      `A model with the ${report.loss} loss has no probabilities, only a ranking. Use loss="logistic" to see their calibration.`;
    return;
  }
  const { brier } = model.calibration[c];
  replace(
    byId("calibration-note"),
    html("b", {}, `Brier score ${fixed(brier, 3)}`),
    `: how often ${report.subjects} with about this predicted probability are ${caseOf(c)}. ` +
      "On the line, predictions are right; bars are two standard errors.",
  );
  drawCalibration(byId("calibration"), model, c);
}

function showScatter(model) {
  const some =
    report.truth.length < report.tested
      ? `${whole(report.truth.length)} of the ${whole(report.tested)}`
      : `all ${whole(report.tested)}`;
  replace(
    byId("scatter-note"),
    html("b", { id: "r2" }, `R² ${fixed(model.r2, 3)}`),
    `, root mean squared error ${number(model.rmse)}. Shown: ${some} rows, ` +
      "each predicted by a model of this size that had not seen it.",
  );
  drawScatter(byId("scatter"), model);
  drawResiduals(byId("residuals"), model);
}

function showData() {
  const data = report.data;
  const facts = [
    fact("rows", whole(data.rows)),
    fact(`${report.unit}s`, `${whole(data.variables)}${data.named ? "" : ", without names: x0, x1, …"}`),
  ];
  facts.push(
    fact(
      "stored",
      `${data.sparse ? "sparse" : "dense"}, ${percent(data.density, data.density < 0.01 ? 3 : 1)} of the values are not zero`,
    ),
  );
  facts.push(fact("missing values", data.missing.summary));
  const more = data.constant > data.constant_names.length ? ", …" : "";
  facts.push(
    fact("constant columns", data.constant ? `${whole(data.constant)}: ${data.constant_names.join(", ")}${more}` : "none"),
  );
  facts.push(fact("weights", data.weighted ? "rows are weighted" : "all rows count equally"));
  replace(byId("data"), facts.flat());
  const gap = (column) =>
    html(
      "tr",
      {},
      html("th", { scope: "row", title: column.name }, column.name),
      html("td", { class: "num" }, `${whole(column.rows)} (${percent(column.share)})`),
      html("td", {}, column.filled),
    );
  const gapHead = html(
    "thead",
    {},
    html(
      "tr",
      {},
      html("th", { scope: "col" }, "column"),
      html("th", { scope: "col", class: "num" }, "missing"),
      html("th", { scope: "col" }, "filled with"),
    ),
  );
  const { columns } = data.missing;
  byId("gaps").hidden = !columns.length;
  if (columns.length) replace(byId("gaps"), html("table", {}, gapHead, html("tbody", {}, columns.map(gap))));
  replace(
    byId("notes"),
    data.notes.map((note) => html("li", {}, note)),
  );
  byId("notes").hidden = !data.notes.length;
  if (data.classes) {
    const rows = data.classes.map((entry) =>
      html(
        "tr",
        {},
        html("th", { scope: "row" }, entry.label),
        html("td", { class: "num" }, whole(entry.rows)),
        html("td", { class: "num" }, percent(entry.share)),
        html(
          "td",
          { class: "bar-cell" },
          html(
            "span",
            { class: "bar one", "aria-hidden": "true" },
            html("span", { class: "plus", style: `width:${(100 * entry.share).toFixed(1)}%` }),
          ),
        ),
      ),
    );
    const share = data.weighted ? "of the weight" : "of all";
    replace(
      byId("target"),
      html(
        "div",
        { class: "scroll" },
        html("table", {}, tableHead([report.target], ["rows", share, ""]), html("tbody", {}, rows)),
      ),
    );
  } else {
    const { mean, sd, min, median, max, histogram } = data.response;
    const words =
      `${report.target}: mean ${number(mean)}, standard deviation ${number(sd)}, ` +
      `from ${number(min)} to ${number(max)}, median ${number(median)}.`;
    const tallest = Math.max(...histogram.counts, 1);
    const bars = histogram.counts.map((n, i) =>
      html("span", {
        style: `height:${((100 * n) / tallest).toFixed(1)}%`,
        title: `${number(histogram.edges[i])} to ${number(histogram.edges[i + 1])}: ${count(n, "row")}`,
      }),
    );
    replace(
      byId("target"),
      html("p", { class: "note" }, words),
      html("div", { class: "histogram", role: "img", "aria-label": `Histogram of ${report.target}` }, bars),
    );
  }
}

function showCertificate() {
  const { rows, sentence, note } = report.certificate;
  byId("certificate-sentence").textContent = tied(sentence);
  byId("certificate-sentence").classList.toggle("proved", report.certificate.proved);
  byId("certificate-note").textContent = note;
  const many = rows.length > 1;
  const cells = (row) => [
    number(row.objective, 8),
    number(row.lower_bound, 8),
    tied(row.gap_words),
    whole(row.nodes),
    fixed(row.seconds, 2),
    row.status,
  ];
  const head = tableHead(many ? ["class"] : [], ["objective", "lower bound", "gap", "nodes", "seconds", "status"]);
  const line = (row) =>
    html(
      "tr",
      {},
      many ? html("th", { scope: "row" }, row.label) : null,
      cells(row).map((text) => html("td", { class: "num" }, text)),
    );
  replace(byId("certificate"), ...(rows.length ? [head, html("tbody", {}, rows.map(line))] : []));
}

// A row for each feature, a column for each model, the best first.
function showOthers() {
  const { others } = report;
  if (!others) {
    byId("others-section").remove();
    return;
  }
  byId("others-section").hidden = false;
  byId("others-sentence").textContent = tied(others.sentence);
  replace(
    byId("others-words"),
    others.words.map((text) => html("p", {}, text)),
  );
  if (others.models < 2) return;
  const above = others.above.map((share, m) => (m ? `+${number(100 * share, 2)} %` : "best"));
  const SIGNS = { 2: ["plus", "•"], 1: ["plus", "+"], 0: ["none", ""], [-1]: ["minus", "−"] };
  const mark = (sign) => html("td", { class: SIGNS[sign][0] }, SIGNS[sign][1]);
  const line = (feature) =>
    html(
      "tr",
      {},
      html("th", { scope: "row", title: feature.name }, feature.name),
      feature.signs.map(mark),
      html("td", { class: "num" }, feature.share === 1 ? "all" : percent(feature.share)),
    );
  replace(byId("others"), tableHead(["feature"], [...above, "share"]), html("tbody", {}, others.features.map(line)));
  const part = others.above.length < others.models;
  const shown = part ? `The best ${others.above.length} of ${whole(others.models)} models, ` : "Models ";
  const left = others.more_features;
  const more = left ? ` ${count(left, "more feature")} of few models ${left > 1 ? "are" : "is"} not shown.` : "";
  byId("others-note").textContent =
    `${shown}the best on the left, with how much worse their objective is; + and − are the signs of coefficients${others.features.some(({ signs }) => signs.includes(2)) ? ", • is a category" : ""}. ` +
    `Share: how many of all ${whole(others.models)} models use the feature.${more}`;
}

function showMethod() {
  replace(
    byId("method"),
    report.method.map((text) => html("p", {}, text)),
  );
  replace(
    byId("footer"),
    html(
      "p",
      {},
      `Made by ellzero ${report.version}${report.date ? `, ${report.date}` : ""}. ` +
        "This page is one file and loads nothing from anywhere.",
    ),
  );
}
