// The score card: questions with whole points, added up as they are ticked, and the risk of each sum.

const signedPoints = (points) => (points > 0 ? `+${points}` : `−${-points}`);

function startCard() {
  const card = report.score_card;
  if (!card) return;
  byId("card-section").hidden = false;
  const area = card.auc === null ? "" : ` (held-out AUC ${fixed(card.auc, 3)})`;
  byId("card-note").textContent =
    `The same question without a computer: tick what applies to one ${report.subject}, add the points, and read the risk of ` +
    `${report.cases[1]}. The card is a separate, coarser model${area}.`;
  const boxes = card.lines.map((line, i) => {
    const box = html("input", { type: "checkbox", id: `card-${i}` });
    box.addEventListener("change", show);
    return box;
  });
  const sum = html("td", { class: "num" }, "0");
  const question = (line, i) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, html("label", { for: `card-${i}` }, boxes[i], " ", line.name)),
      html("td", { class: "num" }, signedPoints(line.points)),
    );
  const total = html("tr", { class: "card-sum" }, html("th", { scope: "row" }, "Score"), sum);
  replace(byId("card-questions"), tableHead(["question"], ["points"]), html("tbody", {}, card.lines.map(question), total));
  const rows = card.risks.map((row) => {
    const minus = (score) => String(score).replace("-", "−");
    const scores = row.low === row.high ? minus(row.low) : `${minus(row.low)} to ${minus(row.high)}`;
    const risks = [...new Set(row.risks.map(chance))].join(" to ");
    const cells = [risks, row.observed === null ? "–" : percent(row.observed, 0), whole(row.rows)];
    return html(
      "tr",
      {},
      html("th", { scope: "row" }, scores),
      cells.map((text) => html("td", { class: "num" }, text)),
    );
  });
  replace(byId("card-risks"), tableHead(["score"], ["risk", "observed", "rows"]), html("tbody", {}, rows));
  byId("card-proof").textContent =
    `${card.proof} "Observed" is how many of the held-out ${report.subjects} with about this risk were ${report.cases[1]}.`;

  function show() {
    const score = card.lines.reduce((points, line, i) => points + (boxes[i].checked ? line.points : 0), 0);
    sum.textContent = String(score).replace("-", "−");
    card.risks.forEach((row, i) => rows[i].classList.toggle("card-now", row.low <= score && score <= row.high));
    replace(
      byId("card-answer"),
      `Score ${sum.textContent}: risk of ${report.cases[1]} `,
      html("b", {}, chance(logistic(card.scale * score + card.intercept))),
    );
  }
  show();
}
