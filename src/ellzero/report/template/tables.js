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
    return `${count(model.k, "feature")} per class${model.k ? ` (${whole(model.size)} in all)` : ""}`;
  return model.size === model.k
    ? count(model.k, "feature")
    : `at most ${count(model.k, "feature")} (uses ${whole(model.size)})`;
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
    `finds ${percent(found / (found + missed))}, clears ${percent(cleared / (cleared + alarms))}`,
    mainFigure(model).join(" "),
  ];
}

// The figure that says most of a model: how well it tells classes apart, or explains a response.
function mainFigure(model) {
  if (report.kind === "regression") return ["R²", fixed(model.r2, 3)];
  const areas = model.roc.filter((curve) => curve).map((curve) => curve.auc);
  if (!areas.length) return ["accuracy", percent(model.accuracy)];
  return [areas.length === 1 ? "AUC" : "mean AUC", fixed(areas.reduce((sum, area) => sum + area, 0) / areas.length, 3)];
}

function showHeadline() {
  const model = report.models[report.selection.chosen];
  byId("plain").textContent = report.plain;
  byId("lead").textContent = report.lead;
  const tile = (label, value, detail) =>
    html("div", {}, html("dt", {}, label), html("dd", {}, value, detail ? html("small", {}, ` ${detail}`) : null));
  const tiles = [tile("features used", whole(model.size), `of ${whole(report.data.features)}`)];
  if (report.kind === "binary") {
    const [[cleared, alarms], [missed, found]] = model.confusion;
    tiles.push(
      tile(`of ${shorten(report.cases[1], 24)}, found`, percent(found / (found + missed)), "sensitivity, held out"),
      tile(`of ${shorten(report.cases[0], 24)}, cleared`, percent(cleared / (cleared + alarms)), "specificity, held out"),
    );
  }
  if (report.kind === "regression") {
    tiles.push(
      tile("explained of the differences", percent(model.r2), "R², held out"),
      tile("root mean squared error", number(model.rmse), `held out; standard deviation ${number(report.data.response.sd)}`),
    );
  } else {
    const [name, value] = mainFigure(model);
    if (name !== "accuracy") tiles.push(tile("pairs ranked rightly", value, `${name}, held out; 0.5 is chance`));
    tiles.push(tile("right in all", percent(model.accuracy), `accuracy, held out; by guessing ${percent(report.baseline)}`));
  }
  const { short, complete } = report.certificate;
  if (short) {
    const proved = complete ? "at most; proved about the search" : "at most; proved so far about the search";
    tiles.push(tile("gap of the fit", tied(parseFloat(short) < 0.001 ? "< 0.001 %" : short), proved));
  }
  showCautions(byId("cautions"), model);
  replace(byId("tiles"), tiles);
  byId("verdict").textContent = tied(report.certificate.sentence);
  byId("verdict").classList.toggle("proved", report.certificate.proved);
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

function showCoefficients(model, c) {
  const folds = new Map(model.use);
  const rows = model.coef[c].map(([f, value]) => ({ f, value, effect: value * report.features[f].spread }));
  rows.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
  const largest = Math.max(...rows.map((row) => Math.abs(row.effect)), 1e-300);
  const bar = (effect) =>
    html(
      "span",
      { class: "bar", "aria-hidden": "true" },
      html("span", { class: effect < 0 ? "minus" : "plus", style: `width:${((50 * Math.abs(effect)) / largest).toFixed(1)}%` }),
    );
  const odds = report.loss === "logistic";
  const cells = (row) => [
    html("th", { scope: "row", title: report.features[row.f].name }, report.features[row.f].name),
    html("td", { class: "num" }, number(row.value, 4)),
    html(
      "td",
      { class: "bar-cell" },
      html("div", { class: "effect" }, html("span", { class: "num" }, number(row.effect)), bar(row.effect)),
    ),
    odds ? html("td", { class: "num ratio" }, number(Math.exp(row.effect))) : null,
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
      odds ? html("th", { scope: "col", class: "num ratio" }, "odds ratio of that") : null,
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
  const what = report.kind === "regression" ? `raises the prediction of ${report.target}` : `speaks for ${caseOf(c)}`;
  byId("coef-note").textContent = rows.length
    ? `${sizeWords(model)}, fitted on all ${report.subjects}. A positive coefficient ${what}; ` +
      "“folds” counts the folds whose model of this size uses the feature too."
    : "No features: the model is its intercept, the same prediction for every row.";
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
// of a choice instead of the most frequent one.
function oddsSteps(variable, coef) {
  const score = ({ sets }) => sets.reduce((sum, [f, set]) => sum + set * (coef.get(f) || 0), 0);
  if (variable.kind === "number") {
    const { spread } = report.features[variable.features[0]];
    return [[`${number(spread)} more (one standard deviation)`, coef.get(variable.features[0]) * spread]];
  }
  if (variable.kind === "flag") return [["yes instead of no", score(variable.options[1])]];
  const usual = variable.options[variable.typical];
  return variable.options
    .filter((option) => score(option) !== score(usual))
    .map((option) => [`${option.label}, instead of ${usual.label} (the most frequent)`, score(option) - score(usual)]);
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
    "Each with all other features of the model unchanged. Odds of 1 to 4 are a probability of 20 %; multiplied by 2 they are 2 to 4, " +
      "33 %. The ratios are of this model, whose features were chosen on the same " +
      `${report.subjects} and whose coefficients may be shrunk: they describe the prediction. They are no causes, and come without intervals ` +
      "(ez.inference makes honest ones on another half of the data).",
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
    `${what} by their true class and the prediction of a model of this size that has not seen them; ` +
    "percentages are of the true class.";
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
      ? [html("b", { id: "auc" }, `AUC ${fixed(curve.auc, 3)}`), `: ${against}, all held-out ${report.subjects} together.`]
      : "A ROC curve needs held-out rows of both classes.",
  );
  drawRoc(byId("roc"), model, c);
  if (!model.calibration) {
    byId("calibration-note").textContent =
      `Calibration needs probabilities, and a model with the ${report.loss} loss has none: its decision values only rank. ` +
      'loss="logistic" has them.';
    return;
  }
  const { brier } = model.calibration[c];
  replace(
    byId("calibration-note"),
    html("b", {}, `Brier score ${fixed(brier, 3)}`),
    `: of the ${report.subjects} with about this predicted probability of ${caseOf(c)}, how many are it. ` +
      "On the line is right; bars are two standard errors.",
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
    `, root mean squared error ${number(model.rmse)}. Shown are ${some} rows, ` +
      "each predicted by a model of this size that has not seen it.",
  );
  drawScatter(byId("scatter"), model);
  drawResiduals(byId("residuals"), model);
}

function showData() {
  const data = report.data;
  const facts = [
    fact("rows", whole(data.rows)),
    fact("features", `${whole(data.features)}${data.named ? "" : ", without names: x0, x1, …"}`),
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
  facts.push(fact("weights", data.weighted ? "rows are weighted" : "all rows count the same"));
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
  const mark = (sign) =>
    html("td", { class: sign > 0 ? "plus" : sign < 0 ? "minus" : "none" }, sign > 0 ? "+" : sign < 0 ? "−" : "");
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
    `${shown}from left to right, by how much worse their objective is; + and − are the signs of coefficients, ` +
    `the share is that of all ${whole(others.models)} models.${more}`;
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
