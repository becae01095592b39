// The page: one size is shown at a time, and the slider says which.

const report = JSON.parse(byId("report-data").textContent);
const state = { at: report.selection.chosen, c: 0, cut: 0 };

const PAPER = "700px"; // the width of a page of A4 or letter size, less its margins

function snippet(title, text) {
  const button = html("button", { type: "button", class: "copy" }, "Copy");
  const block = html("pre", { tabindex: 0 }, html("code", {}, text));
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      // Pages from a file may not have the clipboard: the text is selected instead.
      getSelection().selectAllChildren(block);
      button.textContent = "Selected";
    }
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
  return html("div", { class: "snippet" }, html("div", { class: "snippet-head" }, html("h3", {}, title), button), block);
}

// The model in plain Python: few features need no library.
function formula(model) {
  const sum = (c, indent) => [
    `${indent}${model.intercept[c]}`,
    ...model.coef[c].map(
      ([f, value]) => `${indent}${value < 0 ? "-" : "+"} ${Math.abs(value)} * row[${report.features[f].key}]`,
    ),
  ];
  const { labels } = report.code;
  if (report.kind !== "multiclass") {
    const score = ["score = (", ...sum(0, "    "), ")"].join("\n");
    if (report.kind === "regression") return score;
    const label = `label = ${labels[1]} if score > 0 else ${labels[0]}`;
    const share = `probability = 1 / (1 + exp(-score))  # of ${labels[1]}`;
    return report.loss === "logistic" ? ["from math import exp", "", score, share, label].join("\n") : `${score}\n${label}`;
  }
  const scores = model.coef.flatMap((_, c) => [`    ${labels[c]}: (`, ...sum(c, "        "), "    ),"]);
  const lines = ["scores = {", ...scores, "}", "label = max(scores, key=scores.get)"];
  if (report.loss !== "multinomial") return lines.join("\n");
  const shares = [
    "parts = {label: exp(score - max(scores.values())) for label, score in scores.items()}",
    "probabilities = {label: part / sum(parts.values()) for label, part in parts.items()}",
  ];
  return ["from math import exp", "", ...lines, ...shares].join("\n");
}

function showCode(model) {
  const k = String(model.k);
  const blocks = report.code.blocks.map(({ title, parts }) => snippet(title, parts.join(k)));
  blocks.splice(1, 0, snippet("As a formula", formula(model)));
  replace(byId("code"), blocks);
  byId("code-note").textContent = `For the model with ${sizeWords(model)}; the slider changes the code, too.`;
}

function update() {
  const model = report.models[state.at];
  const slider = byId("size");
  byId("tip").hidden = true;
  slider.value = state.at;
  slider.setAttribute("aria-valuetext", sizeWords(model));
  replace(
    byId("now"),
    html("b", {}, report.kind === "multiclass" ? sizeWords(model).split(" (")[0] : sizeWords(model)),
    fitWords(model).map((text) => html("span", {}, text)),
  );
  byId("back").disabled = state.at === report.selection.chosen;
  byId("smaller").disabled = state.at === 0;
  byId("larger").disabled = state.at === report.models.length - 1;
  drawScore(byId("score"), state.at, choose);
  showCoefficients(model, state.c);
  showFit(model, state.c);
  drawAlong(byId("along"), byId("along-legend"), state.at, state.c);
  drawStability(byId("stability"), state.at);
  showCalculator(model, state.c);
  showThreshold(model);
  if (report.kind === "regression") showScatter(model);
  else {
    showConfusion(model);
    showCurves(model, state.c);
  }
  showCode(model);
}

function choose(at) {
  const inside = Math.max(0, Math.min(report.models.length - 1, at));
  if (inside === state.at) return;
  state.at = inside;
  update();
}

function start() {
  const { chosen } = report.selection;
  for (const section of document.querySelectorAll("[data-for]")) {
    if (!section.dataset.for.split(" ").includes(report.kind)) section.remove();
  }
  document.body.classList.add(report.kind);
  const last = report.models.length - 1;
  byId("size").max = last;
  byId("mark").style.setProperty("--place", last ? chosen / last : 0.5);
  replace(byId("back"), "Back to ", html("span", {}, "the chosen "), String(report.models[chosen].k));
  byId("size").addEventListener("input", (event) => choose(Number(event.target.value)));
  byId("back").addEventListener("click", () => {
    choose(chosen);
    byId("size").focus();
  });
  byId("smaller").addEventListener("click", () => choose(state.at - 1));
  byId("larger").addEventListener("click", () => choose(state.at + 1));
  if (report.kind === "multiclass") {
    replace(
      byId("class"),
      report.classes.map((name, i) => html("option", { value: i }, name)),
    );
    byId("class").addEventListener("change", (event) => {
      state.c = Number(event.target.value);
      update();
    });
    byId("class-label").hidden = false;
  }
  byId("score-note").textContent = report.selection.note;
  byId("stability-note").textContent = report.selection.stability_note;
  startCalculator();
  startCard();
  startThreshold();
  showHeadline();
  showData();
  showCertificate();
  showOthers();
  showMethod();
  update();
  // Charts are drawn for the width of the paper, so that their text can be read there.
  const drawnFor = (width) => {
    document.body.style.width = width;
    update();
  };
  addEventListener("beforeprint", () => drawnFor(PAPER));
  addEventListener("afterprint", () => drawnFor(""));
  let width = document.documentElement.clientWidth;
  addEventListener("resize", () => {
    if (document.documentElement.clientWidth === width) return; // phones change the height while scrolling
    width = document.documentElement.clientWidth;
    update();
  });
}

start();
