// The calculator: what is known of one row, and what the model says of it.

const answers = new Map(); // by variable, what the reader entered: a number (NaN: nothing), or the place of an option

function startCalculator() {
  byId("h-calculator").textContent = `For one ${report.subject}`;
  for (const variable of report.variables) answers.set(variable, variable.typical);
}

const usedVariables = (model) => {
  const used = new Set(model.coef.flat().map(([f]) => f));
  return report.variables.filter(({ features }) => features.some((f) => used.has(f)));
};

const isOutside = (variable) =>
  variable.kind === "number" && (answers.get(variable) < variable.low || answers.get(variable) > variable.high);

function numberInput(variable, id, changed) {
  const range = `${number(variable.low, 4)} to ${number(variable.high, 4)}`;
  const hint = html("small", { id: `${id}-hint` }, `in the data: ${range}`);
  const input = html("input", {
    id,
    type: "number",
    inputmode: "decimal",
    step: variable.whole ? 1 : "any",
    value: answers.get(variable),
    "aria-describedby": `${id}-hint`,
  });
  const check = () => {
    const value = answers.get(variable);
    const missing = !known(value);
    const outside = isOutside(variable);
    hint.textContent = missing
      ? `empty: the median, ${number(variable.typical, 4)}, is used`
      : `${outside ? "outside the data: " : "in the data: "}${range}`;
    hint.classList.toggle("outside", outside);
  };
  input.addEventListener("input", () => {
    answers.set(variable, input.value.trim() === "" ? NaN : Number(input.value));
    check();
    changed();
  });
  check();
  return [input, hint];
}

function choiceInput(variable, id, changed) {
  const input = html(
    "select",
    { id },
    variable.options.map(({ label }, i) => html("option", { value: i, selected: i === answers.get(variable) }, label)),
  );
  input.addEventListener("change", () => {
    answers.set(variable, Number(input.value));
    changed();
  });
  return [input];
}

// The value of every feature that answers set; all others are zero.
const usualRow = () => rowOf(report.variables.map((variable) => [variable, variable.typical]));
const answeredRow = () => rowOf(answers);
function rowOf(entered) {
  const row = new Map();
  for (const [variable, value] of entered) {
    if (variable.kind === "number") row.set(variable.features[0], known(value) ? value : variable.typical);
    else for (const [f, set] of variable.options[value].sets) row.set(f, set);
  }
  return row;
}

const scoreOf = (model, c, row) =>
  model.coef[c].reduce((sum, [f, value]) => sum + value * (row.has(f) ? row.get(f) : 0), model.intercept[c]);
const logistic = (score) => 1 / (1 + Math.exp(-score));

// Of several classes, each against the rest: their probabilities are divided by their sum; so are the exponentials of
// multinomial scores.
function probabilities(scores) {
  const shares =
    report.loss === "multinomial" ? scores.map((score) => Math.exp(score - Math.max(...scores))) : scores.map(logistic);
  if (shares.length === 1) return shares;
  const total = shares.reduce((a, b) => a + b, 0);
  return shares.map((share) => (total > 0 ? share / total : 1 / shares.length));
}

// No model is certain, though its probability may round to 0 or 1.
const chance = (share) => percent(Math.min(Math.max(share, 1e-9), 1 - 1e-9));

function showCalculator(model, c) {
  const variables = usedVariables(model);
  byId("calculator-section").hidden = !variables.length;
  if (!variables.length) return;
  const changed = () => showAnswer(model, c);
  const inputs = variables.map((variable, i) => {
    const make = variable.kind === "number" ? numberInput : choiceInput;
    const id = `input-${i}`;
    return html("div", { class: "input" }, html("label", { for: id }, variable.name), make(variable, id, changed));
  });
  replace(byId("inputs"), inputs);
  const balanced = report.balanced ? " The classes were weighted in the fit: the probability is not that of the data." : "";
  byId("calculator-note").textContent =
    `Enter what is known. At first, every value is the median, or the most common. The model has ${sizeWords(model)} and was ` +
    `fitted on all ${report.subjects}.${balanced} ${report.test ? "" : "It has not been tested on other data. "}` +
    "It informs a decision, and does not make one.";
  showAnswer(model, c);
}

function showAnswer(model, c) {
  const row = answeredRow();
  const scores = model.coef.map((_, output) => scoreOf(model, output, row));
  replace(byId("answer"), rowCautions(model), answerLines(model, scores));
  replace(byId("moves"), movesTable(model, c, row));
  replace(byId("terms"), termsTable(model, c, row, scores));
}

// What the reader should know of the row before the number: values unlike the data, and values that are made up.
function rowCautions(model) {
  const variables = usedVariables(model);
  const far = variables.filter(isOutside);
  const empty = variables.filter((variable) => variable.kind === "number" && !known(answers.get(variable)));
  const range = ({ name, low, high }) => `${name} (${number(low, 4)} to ${number(high, 4)} in the data)`;
  return [
    far.length
      ? html(
          "p",
          { class: "outside" },
          `Outside the data: ${far.map(range).join(", ")}. The model has seen no such ${report.subject}.`,
        )
      : null,
    empty.length
      ? html("p", { class: "muted" }, `Left empty, so the median is used: ${empty.map(({ name }) => name).join(", ")}.`)
      : null,
  ];
}

// By how much each variable moves the score away from that of the usual row, the largest first.
function movesTable(model, c, row) {
  const usual = usualRow();
  const coef = new Map(model.coef[c]);
  const move = ({ features }) =>
    features.reduce((sum, f) => sum + (coef.get(f) || 0) * ((row.get(f) || 0) - (usual.get(f) || 0)), 0);
  const moves = usedVariables(model)
    .map((variable) => ({ name: variable.name, effect: move(variable) }))
    .filter(({ effect }) => effect !== 0)
    .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
  if (!moves.length) return [];
  const largest = Math.abs(moves[0].effect);
  const line = ({ name, effect }) =>
    html(
      "tr",
      {},
      html("th", { scope: "row", title: name }, name),
      html("td", { class: "bar-cell" }, effectBar(effect, largest)),
      html("td", { class: "num" }, number(effect)),
    );
  const what = report.kind === "regression" ? `the prediction of ${report.target}` : `the score of ${caseOf(c)}`;
  return [
    html("h3", {}, `What moves ${what}, compared with the usual ${report.subject}`),
    html("div", { class: "scroll" }, html("table", {}, html("tbody", {}, moves.map(line)))),
  ];
}

function answerLines(model, scores) {
  const big = (text) => html("b", { class: "big" }, text);
  if (report.kind === "regression") return [html("p", {}, `${report.target}: `, big(number(scores[0], 4))), spreadWords(model)];
  if (!likelihood()) {
    const at = report.kind === "binary" ? Number(scores[0] > 0) : scores.indexOf(Math.max(...scores));
    return [
      html("p", {}, "The model says ", big(report.classes[at])),
      html("p", { class: "muted" }, "This loss has no probabilities."),
    ];
  }
  const shares = probabilities(scores);
  if (report.kind === "binary")
    return [
      html("p", {}, `Probability of ${report.cases[1]}: `, big(chance(shares[0]))),
      html("div", { class: "meter", "aria-hidden": "true" }, html("span", { style: `width:${(100 * shares[0]).toFixed(1)}%` })),
      evidenceWords(model, shares[0]),
      otherPrevalence(shares[0]),
    ];
  const order = shares.map((_, i) => i).sort((a, b) => shares[b] - shares[a]);
  const line = (i) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, report.classes[i]),
      html("td", { class: "num" }, chance(shares[i])),
      html(
        "td",
        { class: "bar-cell" },
        html("span", { class: "bar one" }, html("span", { class: "plus", style: `width:${(100 * shares[i]).toFixed(1)}%` })),
      ),
    );
  return [html("table", {}, html("tbody", {}, order.map(line)))];
}

const spreadWords = (model) =>
  html(
    "p",
    { class: "muted" },
    `Half of the held-out predictions were off by at most ${number(model.half_within)}, nine in ten by at most ${number(model.most_within)}.`,
  );

// What happened to held-out rows with about this probability.
function evidenceWords(model, share) {
  const { bins } = model.calibration[0];
  if (bins.length < 2) return null;
  const [mean, was, rows] =
    bins[
      nearest(
        bins.map(([middle]) => middle),
        share,
      )
    ];
  return html(
    "p",
    { class: "muted" },
    `Of the ${whole(rows)} held-out ${report.subjects} with the closest predictions (${chance(mean)} on average), ` +
      `${percent(was)} were ${report.cases[1]}.`,
  );
}

// Odds grow in proportion to the odds of the class before anything is known.
function otherPrevalence(share) {
  const odds = (p) => p / (1 - p);
  if (!report.thresholds || prevalence() === report.prevalence) return null;
  const moved = (odds(share) * odds(prevalence())) / odds(report.prevalence);
  return html(
    "p",
    {},
    `Where ${percent(prevalence())} are ${report.cases[1]}, instead of ${percent(report.prevalence)} as in this data (see below): `,
    html("b", {}, chance(share === 1 ? 1 : moved / (1 + moved))),
  );
}

function termsTable(model, c, row, scores) {
  const score = scores[c];
  const line = ([f, value]) => {
    const entered = row.has(f) ? row.get(f) : 0;
    const cells = [number(entered, 6), `× ${number(value, 5)}`, number(entered * value, 5)];
    return html(
      "tr",
      {},
      html("th", { scope: "row", title: report.features[f].name }, report.features[f].name),
      cells.map((text) => html("td", { class: "num" }, text)),
    );
  };
  const single = (name, text) =>
    html("tr", {}, html("th", { scope: "row" }, name), html("td"), html("td"), html("td", { class: "num" }, text));
  const end = [single(report.kind === "regression" ? `${report.target}: the sum` : "score: the sum", number(score, 5))];
  if (report.loss === "multinomial") {
    const name = "probability = exp(score) / the sum of exp(score) over the classes";
    end.push(single(name, scores.every(known) ? chance(probabilities(scores)[c]) : "–"));
  }
  if (report.loss === "logistic") {
    const all = report.kind === "multiclass" ? ", before it is divided by the sum over the classes" : "";
    end.push(single(`probability = 1 / (1 + exp(−score))${all}`, known(score) ? chance(logistic(score)) : "–"));
  }
  const whose = report.kind === "multiclass" ? `feature (of ${report.classes[c]})` : "feature";
  return html(
    "table",
    { class: "terms" },
    tableHead([whose], ["value", "coefficient", "product"]),
    html("tbody", {}, single("intercept", number(model.intercept[c], 5)), model.coef[c].map(line), end),
  );
}
