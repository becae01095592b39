"""The model that cross-validation chooses with nothing set, on real data, compared with that of scikit-learn's l1.

Run it with `make bench-choice`; ELLZERO_DATA names the folder with the data sets. Every fit is recorded in build/choice, so
that an interrupted run goes on where it ended; delete the records of a rule after changing it.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LassoCV, LogisticRegression, LogisticRegressionCV, lasso_path
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import ellzero as ez
from benchmarks.choice_data import ONCE, REGRESSION, TUNED, DataSet, Split, split_of
from benchmarks.choice_figure import draw
from benchmarks.exact_runs import ROOT
from benchmarks.sections import Report, Section, arguments_of
from experiments.measurement.markdown import table
from experiments.measurement.statistics import mean_with_error

RECORDS = ROOT / "build" / "choice"
FIGURE = ROOT / "benchmarks" / "results" / "choice.png"
QUICK_SPLITS = 2
CURVE_SPLITS = 5  # that the curves of the figure are means of
OLD: dict[str, Any] = {"n_shrinkage": 3, "n_lambda": 100, "max_support": 50, "rule": "best"}
INTRODUCTION = f"""# What cross-validation chooses with nothing set

`L0ClassifierCV()` and `L0RegressorCV()` with nothing set, compared with `LogisticRegressionCV(penalty="l1", solver="liblinear",
Cs=10, cv=5, scoring="roc_auc")` and `LassoCV(cv=5)`. All learn from the same random 65 % of the rows (at most 2,000), with
columns standardised there, and are judged on the other rows, by the area under the ROC curve (AUC) or by R2. Splits are
stratified.

"Old" are our defaults before these rules: three values of lambda_2, at most 50 features, the best mean score
(`{", ".join(f"{name}={value!r}" for name, value in OLD.items())}`). Differences are paired, split by split, with their standard
errors over splits; splits share rows, so these are a little too small. Features of a mean of models are those of all its models
together. Seconds are of processor time on one thread, the median of the ratios; liblinear is the faster of l1's solvers.

![AUC against features](choice.png)

The figure shows means over the first {CURVE_SPLITS} splits. "L0, by size" is the one model that cross-validation would choose
among those of at most this many features; a mean of models can lie above it.

Fits are recorded: the seconds of a section are those of its last, resumed run.

The rules are in `src/ellzero/estimators/choice_rules.py`. They were tuned on the first group of sets. The second group was set
aside before anything was measured, and looked at once, when the rules were final.
"""


# Fits.


def scaled(split: Split) -> tuple[Any, Any]:
    scaler = StandardScaler(with_mean=not sparse.issparse(split.X)).fit(split.X)
    return scaler.transform(split.X), scaler.transform(split.X_test)


def l1(split: Split, curve: bool) -> dict[str, Any]:
    start = time.process_time()
    X, X_test = scaled(split)
    settings: dict[str, Any] = {"penalty": "l1", "solver": "liblinear", "random_state": 0}
    model = LogisticRegressionCV(Cs=10, cv=5, scoring="roc_auc", **settings).fit(X, split.y)
    out = described(time.process_time() - start, model.decision_function(X_test), int(np.count_nonzero(model.coef_)), split)
    if curve:
        fits = [LogisticRegression(C=C, **settings).fit(X, split.y) for C in model.Cs_]
        points = [(int(np.count_nonzero(fit.coef_)), score(split, fit.decision_function(X_test))) for fit in fits]
        out["curve"] = [point for point in points if point[0]]
    return out


def lasso(split: Split, curve: bool) -> dict[str, Any]:
    start = time.process_time()
    X, X_test = scaled(split)
    model = LassoCV(cv=5, random_state=0).fit(X, split.y)
    out = described(time.process_time() - start, model.predict(X_test), int(np.count_nonzero(model.coef_)), split)
    if curve:
        _, coefs, _ = lasso_path(X, split.y - split.y.mean(), alphas=model.alphas_[::8])
        points = [(int(np.count_nonzero(c)), score(split, X_test @ c + split.y.mean())) for c in coefs.T]
        out["curve"] = [point for point in points if point[0]]
    return out


def ours(split: Split, curve: bool, **settings: Any) -> dict[str, Any]:
    regression = is_regression(split)
    start = time.process_time()
    model: Any = (ez.L0RegressorCV if regression else ez.L0ClassifierCV)(**settings).fit(split.X, split.y)
    seconds = time.process_time() - start
    predicted = model.predict(split.X_test) if regression else model.decision_function(split.X_test)
    out = described(seconds, predicted, len(model.support_), split) | {"models": len(model.choice_.models)}
    out["lambda_2"] = [each.lambda_2 for each in model.choice_.models]
    if curve:
        out["curve"] = best_of_each_size(model, split)
    return out


def best_of_each_size(model: Any, split: Split) -> list[tuple[int, float]]:
    """The models that cross-validation would choose if no larger ones were allowed: their sizes, and scores on other rows."""
    places = [(c.mean[m], -c.size[m], n, m) for n, c in enumerate(model.cv_results_.columns) for m in range(len(c.size))]
    out = []
    for size in sorted({-place[1] for place in places} - {0}):
        *_, number, point = max(place for place in places if -place[1] <= size)
        column = model.cv_results_.columns[number]
        eta = split.X_test @ column.coef[point].toarray()[0] + column.intercept[point, 0]
        out.append((int(size), score(split, np.asarray(eta).ravel())))
    return out


def is_regression(split: Split) -> bool:
    return len(np.unique(split.y)) > 2


def score(split: Split, predicted: Any) -> float:
    rate: Callable[..., float] = r2_score if is_regression(split) else roc_auc_score
    return float(rate(split.y_test, predicted))


def described(seconds: float, predicted: Any, features: int, split: Split) -> dict[str, Any]:
    return {"seconds": seconds, "features": features, "score": score(split, predicted), "rows": len(split.y)}


def record_of(data: DataSet, number: int, rule: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what was recorded of a fit, or do it and record it."""
    file = RECORDS / f"{data.name.replace(' ', '_').replace(',', '')}-{number}-{rule}.json"
    if not file.exists():
        with threadpool_limits(1):
            found = work()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found))
    return json.loads(file.read_text())


def measure(data: DataSet, quick: bool) -> dict[str, list[dict[str, Any]]]:
    """Return for each rule the records of all splits."""
    regression = data in REGRESSION
    rules: dict[str, Callable[[Split, bool], dict[str, Any]]] = {
        "peer": lasso if regression else l1,
        "old": partial(ours, **OLD),
        "new": ours,
    }
    out: dict[str, list[dict[str, Any]]] = {rule: [] for rule in rules}
    X, y = data.load()
    for number in range(min(data.splits, QUICK_SPLITS) if quick else data.splits):
        split = split_of(X, y, number, regression)
        for rule, fit in rules.items():
            curve = number < CURVE_SPLITS and rule != "old"
            out[rule].append(record_of(data, number, rule, partial(fit, split, curve)))
        print(data.name, number, *(f"{r} {v[-1]['score']:.4f}/{v[-1]['features']}" for r, v in out.items()), flush=True)
    return out | {"shape": [{"columns": X.shape[1]}]}


# Tables.


def differences(found: dict[str, list[dict[str, Any]]], rule: str, other: str = "peer") -> list[float]:
    return [a["score"] - b["score"] for a, b in zip(found[rule], found[other], strict=True)]


def mean_of(found: dict[str, list[dict[str, Any]]], rule: str, name: str) -> float:
    return float(np.mean([record[name] for record in found[rule]]))


def difference_text(values: list[float]) -> str:
    mean, error = mean_with_error(values)
    return f"{mean:+.4f} ± {error:.4f}"


def row_of(name: str, found: dict[str, list[dict[str, Any]]]) -> list[str]:
    share = mean_of(found, "new", "features") / mean_of(found, "peer", "features")
    times = [a["seconds"] / b["seconds"] for a, b in zip(found["new"], found["peer"], strict=True)]
    return [
        name,
        f"{found['new'][0]['rows']} x {found['shape'][0]['columns']}",
        str(len(found["new"])),
        f"{mean_of(found, 'peer', 'score'):.4f}",
        f"{mean_of(found, 'peer', 'features'):.0f}",
        difference_text(differences(found, "old")),
        f"{mean_of(found, 'old', 'features'):.0f}",
        difference_text(differences(found, "new")),
        f"{mean_of(found, 'new', 'features'):.0f}",
        f"{share:.2f}",
        f"{mean_of(found, 'new', 'models'):.1f}",
        f"{np.median(times):.2f}",
    ]


def mean_row(all_found: list[dict[str, list[dict[str, Any]]]]) -> list[str]:
    """The mean over sets, its standard error from those of the sets; of shares and of seconds the geometric mean."""

    def over_sets(rule: str) -> str:
        pairs = [mean_with_error(differences(found, rule)) for found in all_found]
        error = np.sqrt(sum(error**2 for _, error in pairs)) / len(pairs)
        return f"{np.mean([mean for mean, _ in pairs]):+.4f} ± {error:.4f}"

    shares = [mean_of(found, "new", "features") / mean_of(found, "peer", "features") for found in all_found]
    times = [
        np.median([a["seconds"] / b["seconds"] for a, b in zip(found["new"], found["peer"], strict=True)])
        for found in all_found
    ]
    middle = [f"{np.exp(np.mean(np.log(values))):.2f}" for values in (shares, times)]
    return ["**mean**", "", "", "", "", over_sets("old"), "", over_sets("new"), "", middle[0], "", middle[1]]


def header(peer: str, measure: str) -> list[str]:
    return [
        "set",
        "rows x columns",
        "splits",
        f"{peer}: {measure}",
        "features",
        f"old less {peer}",
        "features",
        f"new less {peer}",
        "features",
        f"share of {peer}'s",
        "models",
        "seconds",
    ]


def section(title: str, sets: list[DataSet], quick: bool) -> Section:
    all_found = {data.name: measure(data, quick) for data in sets}
    regression = sets is REGRESSION
    rows = [row_of(name, found) for name, found in all_found.items()] + [mean_row(list(all_found.values()))]
    out = Section(title, raw=[{"set": name, "found": found} for name, found in all_found.items()])
    out.text = table(header("lasso" if regression else "l1", "R2" if regression else "AUC"), rows)
    better = [difference_text(differences(found, "new", "old")) for found in all_found.values()]
    out.text += "\n\nNew less old, in the order of the table: " + ", ".join(better) + "."
    return out


def together(quick: bool) -> Section:
    """The means over both groups of classification sets."""
    all_found = [measure(data, quick) for data in TUNED + ONCE]
    row = mean_row(all_found)
    shares = [mean_of(found, "new", "features") / mean_of(found, "peer", "features") for found in all_found]
    small = sum(share <= 1.0 / 3.0 for share in shares)
    out = Section("All sets of classes together")
    out.text = (
        f"Over {len(shares)} sets the AUC less that of l1 is {row[7]} (old: {row[5]}), with {row[9]} times its features and in "
        f"{row[11]} times its seconds (geometric means). On {small} sets the share of features is at most a third."
    )
    return out


def main() -> None:
    arguments = arguments_of(__doc__).parse_args()
    warnings.simplefilter("ignore")  # liblinear's convergence, and scikit-learn's own deprecations
    report = Report("choice", arguments)
    sections = {
        "tuned": partial(section, "Sets that the rules were tuned on", TUNED, report.quick),
        "once": partial(section, "Sets that were looked at once", ONCE, report.quick),
        "together": partial(together, report.quick),
        "regression": partial(section, "Regression", REGRESSION, report.quick),
    }
    report.write(INTRODUCTION, sections)
    draw(report.kept, FIGURE if not report.quick else report.kept.with_suffix(".png"))


if __name__ == "__main__":
    main()
