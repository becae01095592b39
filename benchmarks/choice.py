"""The model that cross-validation chooses with nothing set, compared with scikit-learn's l1.

Run it with `make bench-choice`; ELLZERO_DATA names the folder with the data sets. Every fit is recorded in build/choice, so
that an interrupted run goes on where it ended; delete the records of a rule after changing it. With ELLZERO_CHOICE_RECORDED
set, the report is of what is recorded so far.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.linear_model import LassoCV, LogisticRegression, LogisticRegressionCV, lasso_path
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, r2_score, roc_auc_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import ellzero as ez
from benchmarks.choice_data import CLASSES, ONCE, REGRESSION, TUNED, DataSet, Split
from benchmarks.choice_figure import draw
from benchmarks.exact_runs import ROOT
from benchmarks.sections import Report, Section, arguments_of
from ellzero.estimators.choice import choose_point
from experiments.measurement.markdown import table
from experiments.measurement.statistics import mean_with_error

RECORDS = ROOT / "build" / "choice"
FIGURE = ROOT / "benchmarks" / "results" / "choice.png"
QUICK_SPLITS = 2
CURVE_SPLITS = 3  # that the curves of the figure are means of
RULES = ("auto", "sparse", "best")
RECORDED_ONLY = "ELLZERO_CHOICE_RECORDED" in os.environ  # report the fits that are recorded, and do no others
Found = dict[str, list[dict[str, Any]]]
INTRODUCTION = f"""# What cross-validation chooses with nothing set

`L0ClassifierCV()` and `L0RegressorCV()` with nothing set (`rule="auto"`), and what `rule="sparse"` and `rule="best"` choose
among the same models, compared with `LogisticRegressionCV(penalty="l1", solver="liblinear", Cs=10, cv=5,
scoring="roc_auc")` and `LassoCV(cv=5)`. All learn from the same rows, with columns standardised there, and are judged on
other rows, by the area under the ROC curve (AUC) or by R2. Real sets: random 65 % of the rows (at most 2,000), stratified.
Drawn sets: new rows and new effects for each split, 600 columns (1,000 in the setting of Figure 2).

Differences are paired, split by split, with their standard errors; splits of a real set share rows, so these are too small.
"Log loss" is ours less that of l1, as a share of that of l1, which for this has `scoring="neg_log_loss"`. A share of
features is that of l1's. Seconds are of processor time on one thread, the median of the ratios; liblinear is the faster of
l1's solvers. It stops early, and so leaves more features than there are rows.

![AUC against features](choice.png)

The figure shows means over the first {CURVE_SPLITS} splits. "L0, by size" is the model that cross-validation would choose among
those of at most this many features.

Fits are recorded: the seconds of a section are those of its last, resumed run.

The rules are in `src/ellzero/estimators/choice_rules.py`. They were tuned on some splits of the first group of sets. The second
group was looked at once, when the rules were final; earlier rules had been tried on its real sets, too.
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
    seconds = time.process_time() - start
    calibrated = LogisticRegressionCV(Cs=10, cv=5, scoring="neg_log_loss", **settings).fit(X, split.y)
    loss = log_loss(split.y_test, calibrated.predict_proba(X_test))
    out = described(model.decision_function(X_test), loss, int(np.count_nonzero(model.coef_)), split) | {"seconds": seconds}
    if curve:
        fits = [LogisticRegression(C=C, **settings).fit(X, split.y) for C in model.Cs_]
        points = [(int(np.count_nonzero(fit.coef_)), score(split, fit.decision_function(X_test))) for fit in fits]
        out["curve"] = [point for point in points if point[0]]
    return out


def lasso(split: Split, curve: bool) -> dict[str, Any]:
    start = time.process_time()
    X, X_test = scaled(split)
    model = LassoCV(cv=5, random_state=0).fit(X, split.y)
    seconds, predicted = time.process_time() - start, model.predict(X_test)
    out = described(predicted, mean_squared_error(split.y_test, predicted), int(np.count_nonzero(model.coef_)), split)
    out["seconds"] = seconds
    if curve:
        _, coefs, _ = lasso_path(X, split.y - split.y.mean(), alphas=model.alphas_[::8])
        points = [(int(np.count_nonzero(c)), score(split, X_test @ c + split.y.mean())) for c in coefs.T]
        out["curve"] = [point for point in points if point[0]]
    return out


def l1_of_classes(split: Split, curve: bool) -> dict[str, Any]:
    start = time.process_time()
    X, X_test = scaled(split)
    settings: dict[str, Any] = {"penalty": "l1", "solver": "saga", "tol": 1e-3, "max_iter": 300, "random_state": 0}
    model = LogisticRegressionCV(Cs=6, cv=5, scoring="neg_log_loss", **settings).fit(X, split.y)
    seconds, used = time.process_time() - start, int(np.count_nonzero((model.coef_ != 0.0).any(axis=0)))
    probability = model.predict_proba(X_test)
    out = described(model.classes_[probability.argmax(axis=1)], log_loss(split.y_test, probability), used, split)
    return out | {"seconds": seconds}


def ours(split: Split, curve: bool, **settings: Any) -> dict[str, Any]:
    """What each rule chooses among the models of one fit."""
    regression = split.kind == "numbers"
    start = time.process_time()
    model: Any = (ez.L0RegressorCV if regression else ez.L0ClassifierCV)(**settings).fit(split.X, split.y)
    out: dict[str, Any] = {"seconds": time.process_time() - start}
    for rule in RULES:
        column, point = choose_point(model.cv_results_.columns, rule)
        used = int(model.cv_results_.columns[column].size[point])
        decision = decisions(model, column, point, split)
        if regression:
            out[rule] = described(decision[:, 0], mean_squared_error(split.y_test, decision[:, 0]), used, split)
        else:
            probability = model_probabilities(decision)
            shown = model.classes_[probability.argmax(axis=1)] if split.kind == "classes" else decision[:, 0]
            out[rule] = described(shown, log_loss(split.y_test, probability), used, split)
    if curve:
        out["curve"] = best_of_each_size(model, split)
    return out


def decisions(model: Any, number: int, point: int, split: Split) -> Any:
    column = model.cv_results_.columns[number]
    return np.asarray(split.X_test @ column.coef[point].toarray().T) + column.intercept[point]


def model_probabilities(decision: Any) -> Any:
    eta = np.column_stack([np.zeros(len(decision)), decision]) if decision.shape[1] == 1 else decision
    return softmax(eta, axis=1)


def best_of_each_size(model: Any, split: Split) -> list[tuple[int, float]]:
    """The models that cross-validation would choose if no larger ones were allowed: their sizes, and scores on other rows."""
    places = [(c.mean[m], -c.size[m], n, m) for n, c in enumerate(model.cv_results_.columns) for m in range(len(c.size))]
    out = []
    for size in sorted({-place[1] for place in places} - {0}):
        *_, number, point = max(place for place in places if -place[1] <= size)
        out.append((int(size), score(split, decisions(model, number, point, split)[:, 0])))
    return out


def score(split: Split, predicted: Any) -> float:
    rates: dict[str, Callable[..., float]] = {"two": roc_auc_score, "numbers": r2_score, "classes": accuracy_score}
    return float(rates[split.kind](split.y_test, predicted))


def described(predicted: Any, loss: float, features: int, split: Split) -> dict[str, Any]:
    return {"features": features, "score": score(split, predicted), "loss": float(loss), "rows": len(split.y)}


def file_of_record(data: DataSet, number: int, rule: str) -> Path:
    return RECORDS / f"{data.name.replace(' ', '_').replace(',', '')}-{number}-{rule}.json"


def record_of(data: DataSet, number: int, rule: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what was recorded of a fit, or do it and record it."""
    file = file_of_record(data, number, rule)
    if not file.exists():
        with threadpool_limits(1):
            found = work()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found))
    return json.loads(file.read_text())


def is_recorded(data: DataSet, number: int, rules: Iterable[str]) -> bool:
    return all(file_of_record(data, number, rule).exists() for rule in rules)


def measure(data: DataSet, quick: bool) -> Found:
    """Return for each rule the records of all splits."""
    peer = l1_of_classes if data in CLASSES else lasso if data in REGRESSION else l1
    fits: dict[str, Callable[[Split, bool], dict[str, Any]]] = {"peer": peer, "ours": ours}
    if data.drawn:
        fits["l0l1"] = partial(ours, penalty="l0l1")
    out: Found = {rule: [] for rule in ("peer", "curve", *RULES, *(["l0l1"] if data.drawn else []))}
    splits = range(min(data.splits, QUICK_SPLITS) if quick else data.splits)
    for number in splits if not RECORDED_ONLY else [each for each in splits if is_recorded(data, each, fits)]:
        made: list[Split] = []

        def fit_with(fit: Callable[[Split, bool], dict[str, Any]], number: int = number, made: list[Split] = made) -> Any:
            made.extend([] if made else [data.split(number)])  # data are read where a fit is not recorded yet
            return fit(made[0], number < CURVE_SPLITS and data not in CLASSES)

        records = {rule: record_of(data, number, rule, partial(fit_with, fit)) for rule, fit in fits.items()}
        out["peer"].append(records["peer"])
        out["curve"].append({"curve": records["ours"].get("curve")})
        for rule in RULES:
            out[rule].append(records["ours"][rule] | {"seconds": records["ours"]["seconds"]})
        if data.drawn:
            out["l0l1"].append(records["l0l1"]["auto"] | {"seconds": records["l0l1"]["seconds"]})
        print(
            data.name,
            number,
            *(f"{r} {v[-1]['score']:.4f}/{v[-1]['features']}" for r, v in out.items() if r != "curve"),
            flush=True,
        )
    return out


# Tables.


def differences(found: Found, rule: str) -> list[float]:
    return [a["score"] - b["score"] for a, b in zip(found[rule], found["peer"], strict=True)]


def mean_of(found: Found, rule: str, name: str) -> float:
    return float(np.mean([record[name] for record in found[rule]]))


def share_of(found: Found, rule: str, name: str) -> float:
    return (
        max(mean_of(found, rule, name), 0.5) / max(mean_of(found, "peer", name), 0.5)
        if name == "features"
        else (mean_of(found, rule, name) / mean_of(found, "peer", name))
    )


def seconds_of(found: Found) -> float:
    return float(np.median([a["seconds"] / b["seconds"] for a, b in zip(found["auto"], found["peer"], strict=True)]))


def difference_text(values: list[float]) -> str:
    mean, error = mean_with_error(values) if len(values) > 1 else (values[0], float("nan"))
    return f"{mean:+.4f}" + (f" ± {error:.4f}" if np.isfinite(error) else "")


def row_of(name: str, found: Found) -> list[str]:
    others = [*RULES[1:], *(["l0l1"] if "l0l1" in found else [])]
    return [
        name,
        f"{found['auto'][0]['rows']}",
        str(len(found["auto"])),
        f"{mean_of(found, 'peer', 'score'):.4f}",
        f"{mean_of(found, 'peer', 'features'):.0f}",
        difference_text(differences(found, "auto")),
        f"{100.0 * (share_of(found, 'auto', 'loss') - 1.0):+.1f} %",
        f"{mean_of(found, 'auto', 'features'):.0f}",
        f"{share_of(found, 'auto', 'features'):.2f}",
        f"{seconds_of(found):.2f}",
        *(
            text
            for rule in others
            for text in (difference_text(differences(found, rule)), f"{mean_of(found, rule, 'features'):.0f}")
        ),
    ]


def summary_of(all_found: list[Found], rule: str) -> str:
    """The means over sets in a sentence; of shares and of seconds the geometric mean."""
    pairs = [mean_with_error(differences(found, rule)) for found in all_found]
    error = np.sqrt(np.nansum([error**2 for _, error in pairs])) / len(pairs)
    means = [mean for mean, _ in pairs]
    shares = [share_of(found, rule, "features") for found in all_found]
    losses = [share_of(found, rule, "loss") - 1.0 for found in all_found]
    return (
        f'`rule="{rule}"`: {np.mean(means):+.4f} ± {error:.4f}, the worst {min(means):+.4f}; log loss '
        f"{100.0 * np.mean(losses):+.1f} %; {np.exp(np.mean(np.log(shares))):.2f} of the features"
    )


def header(peer: str, measure: str, loss: str, drawn: bool) -> list[str]:
    return [
        "set",
        "rows",
        "splits",
        f"{peer}: {measure}",
        "features",
        f"ours less {peer}",
        loss,
        "features",
        "share",
        "seconds",
        "sparse",
        "features",
        "best",
        "features",
        *(['penalty="l0l1"', "features"] if drawn else []),
    ]


def section(title: str, sets: list[DataSet], quick: bool) -> Section:
    all_found = {data.name: found for data in sets if (found := measure(data, quick))["peer"]}
    out = Section(title, raw=[{"set": name, "found": found} for name, found in all_found.items()])
    names = ("l1", "accuracy", "log loss") if sets is CLASSES else ("lasso", "R2", "squared error")
    names = ("l1", "AUC", "log loss") if sets in (TUNED, ONCE) else names
    parts = []
    for drawn in (False, True):
        rows = [row_of(data.name, all_found[data.name]) for data in sets if data.name in all_found and data.drawn == drawn]
        if rows:
            parts.append(table(header(*names, drawn), rows))
    out.text = "\n\n".join([*parts, means_text(list(all_found.values()))])
    return out


def means_text(all_found: list[Found]) -> str:
    if not all_found:
        return "No fit is recorded."
    times = np.exp(np.mean(np.log([seconds_of(found) for found in all_found])))
    rules = "; ".join(summary_of(all_found, rule) for rule in RULES)
    return f"Means over {len(all_found)} sets: {rules}. Seconds (geometric mean of the ratios): {times:.2f}."


def together(quick: bool) -> Section:
    """The means over both groups of classification sets."""
    return Section(
        "All sets of two classes together",
        means_text([found for data in TUNED + ONCE if (found := measure(data, quick))["peer"]]),
    )


def main() -> None:
    arguments = arguments_of(__doc__).parse_args()
    warnings.simplefilter("ignore")  # liblinear's convergence, and scikit-learn's own deprecations
    report = Report("choice", arguments)
    sections = {
        "tuned": partial(section, "Sets that the rules were tuned on", TUNED, report.quick),
        "once": partial(section, "Sets that were looked at once", ONCE, report.quick),
        "together": partial(together, report.quick),
        "regression": partial(section, "Regression", REGRESSION, report.quick),
        "classes": partial(section, "Several classes", CLASSES, report.quick),
    }
    report.write(INTRODUCTION, sections)
    draw(report.kept, FIGURE if not report.quick else report.kept.with_suffix(".png"))


if __name__ == "__main__":
    main()
