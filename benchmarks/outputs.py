"""Several outputs on shared features against abess, exact searches over them, and a budget of costs; writes Markdown tables.

python -m benchmarks.outputs [--quick] [--only SECTION] [--out FILE]

ELLZERO_DATA names the folder with the real data. Sections that a call leaves out are kept from the last one
(build/bench-outputs.json).
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import StratifiedShuffleSplit

import ellzero as ez
from benchmarks.chosen_features import Chosen, tally, timed
from benchmarks.exact_data import file_of
from benchmarks.sections import Report, Section, arguments_of
from experiments.measurement.markdown import table, three_digits

Array = NDArray[np.float64]
RIDGE = 1e-4
SPLITS = 5
INTRODUCTION = """# Several outputs on shared features

Models of several classes (`loss="multinomial"`) and of several targets (`loss="squared_error"`) on few features, by
`ez.fit_sizes` and abess (`MultinomialRegression`, `MultiTaskRegression`). Each tool's features are fitted again by one
solver with the same ridge (lambda_2 = 0.0001, columns of unit variance): what is compared is the choice of features.
Processor seconds for models of all sizes, one thread; abess fits them in one sequence with warm starts.
"""
COMPARED_TEXT = """"Better / equal / worse" counts sizes by the objective of ellzero's features against that of abess': for
coordinate descent, and for local search with `effort="quick"` and "thorough"."""
DRAWN_TEXT = """n = {n:,}, p = {p:,}, four classes (or three targets), ten features that matter, all models of up to
{largest} features. Seeds {seeds}."""
REAL_TEXT = """All models of up to the number of features in the table. Accuracy: the mean over {splits} splits (70 % of the
rows of each class are fitted) of models of 2, 4 and 8 features, with lambda_2 = 0.01 for ellzero; abess has its own
ridge of that size."""
EXACT_TEXT = """The best models of k features, proved to 0.01 %, and the proofs verified. TOX-171: four classes; lymphoma:
nine, the smallest with two rows. Two threads."""
BUDGET_TEXT = """The UCI's heart disease data (Cleveland), 13 attributes of which most are groups of 0/1 columns, and what the
tests cost there in Canadian dollars: 1 for what is asked, 7.27 for cholesterol, 15.50 for the ECG at rest, 87.30 and
more for exercise tests and imaging. The best model whose tests cost at most a budget, lambda_2 = 0.001."""
COSTS = {
    "Age": 1.0,
    "Sex": 1.0,
    "ChestPain": 1.0,
    "RestBP": 1.0,
    "Cholesterol": 7.27,
    "FastingBloodSugar": 5.20,
    "RestECG": 15.50,
    "MaxExerciseHRTargetRatio": 102.90,
    "ExerciseAngina": 87.30,
    "ExerciseSTDepression": 87.30,
    "ExerciseSTPeakSlope": 87.30,
    "NumVesselsByFlourosopy": 100.90,
    "Thal": 102.90,
}


def scaled(X: Any) -> Array:
    X = np.asarray(X, dtype=np.float64)
    X = X[:, X.std(axis=0) > 0.0]
    return np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))


def drawn(n: int, p: int, loss: str, seed: int) -> tuple[Array, NDArray[Any]]:
    """Independent columns, ten of which matter for all outputs."""
    rng = np.random.default_rng(seed)
    outputs = 4 if loss == "multinomial" else 3
    X = np.asfortranarray(rng.standard_normal((n, p)))
    columns = rng.choice(p, 10, replace=False)
    scores = X[:, columns] @ rng.standard_normal((10, outputs))
    if loss == "squared_error":
        return X, scores + 3.0 * rng.standard_normal((n, outputs))
    return X, np.argmax(scores + rng.gumbel(size=(n, outputs)), axis=1)


def genes(name: str, log: bool) -> tuple[Array, NDArray[Any]]:
    data = np.load(file_of(name))
    X = data["X"].astype(np.float64)
    return scaled(np.log1p(X - min(X.min(), 0.0)) if log else X), data["y"]


def by_ellzero(X: Array, y: NDArray[Any], loss: str, largest: int, algorithm: str, effort: str) -> tuple[float, Chosen]:
    settings: dict[str, Any] = {"loss": loss, "lambda_2": RIDGE, "algorithm": algorithm, "effort": effort, "n_jobs": 1}
    seconds, found = timed(lambda: ez.fit_sizes(X, y, range(largest + 1), **settings))
    return seconds, {model.size: model.support.astype(np.int64) for model in found}


def abess_model(X: Array, y: NDArray[Any], loss: str, sizes: Any, ridge: float) -> Any:
    import abess

    kind = abess.MultinomialRegression if loss == "multinomial" else abess.MultiTaskRegression
    target = y if loss == "squared_error" else np.searchsorted(np.unique(y), y)
    return kind(support_size=sizes, ic_type="loss", alpha=ridge, thread=1).fit(X, target)


def used(model: Any) -> NDArray[np.int64]:
    return np.flatnonzero(np.abs(np.asarray(model.coef_)).reshape(len(model.coef_), -1).sum(axis=1))


def by_abess(X: Array, y: NDArray[Any], loss: str, largest: int) -> tuple[float, Chosen]:
    """The seconds of one sequence of sizes; its models are read one by one, since abess returns one of them."""
    seconds, _ = timed(lambda: abess_model(X, y, loss, range(largest + 1), RIDGE))
    models = [timed(partial(abess_model, X, y, loss, range(size + 1), RIDGE))[1] for size in range(1, largest + 1)]
    return seconds, {len(used(model)): used(model) for model in models}


def cost_of(X: Array, y: NDArray[Any], loss: str, columns: NDArray[np.int64]) -> float:
    """The objective of some features, by one solver for all tools."""
    return ez.fit_path(np.asfortranarray(X[:, columns]), y, loss=loss, lambda_0=0.0, lambda_2=RIDGE)[0].cost


RUNS = {"descent": ("cd", "quick"), "quick": ("local_search", "quick"), "thorough": ("local_search", "thorough")}
HEADER = [
    "data",
    "loss",
    "sizes",
    "descent",
    "quick search",
    "thorough search",
    "abess",
    "beside abess: descent",
    "quick",
    "thorough",
]


def compared(section: Section, name: str, X: Array, y: NDArray[Any], loss: str, largest: int) -> list[str]:
    """The row of one problem."""
    known: dict[bytes, float] = {}

    def cost(columns: NDArray[np.int64]) -> float:
        if columns.tobytes() not in known:
            known[columns.tobytes()] = cost_of(X, y, loss, columns)
        return known[columns.tobytes()]

    found = {run: by_ellzero(X, y, loss, largest, *how) for run, how in RUNS.items()}
    abess_seconds, theirs = by_abess(X, y, loss, largest)
    tallies = [tally(chosen, theirs, cost) for _, chosen in found.values()]
    seconds = [took for took, _ in found.values()]
    section.raw.append({"name": name, "loss": loss, "seconds": seconds, "abess": abess_seconds, "tallies": tallies})
    row = [name, loss, str(largest), *map(three_digits, seconds), three_digits(abess_seconds), *tallies]
    print(" | ".join(row), flush=True)
    return row


def synthetic(quick: bool) -> Section:
    section = Section("Drawn data")
    n, p, largest, seeds = (300, 1_000, 8, range(1)) if quick else (1_000, 10_000, 15, range(3))
    rows = [
        compared(section, f"seed {seed}", *drawn(n, p, loss, seed), loss, largest)
        for loss in ("multinomial", "squared_error")
        for seed in seeds
    ]
    text = DRAWN_TEXT.format(n=n, p=p, largest=largest, seeds=", ".join(map(str, seeds)))
    section.text = f"{text} {COMPARED_TEXT}\n\n{table(HEADER, rows)}"
    return section


def accuracy(X: Array, y: NDArray[Any], sizes: tuple[int, ...]) -> list[str]:
    """The share of right predictions on held-out rows, ellzero and abess, for each size."""
    right: dict[tuple[str, int], list[float]] = {}
    for train, test in StratifiedShuffleSplit(SPLITS, test_size=0.3, random_state=0).split(X, y):
        part, target = np.asfortranarray(X[train]), y[train]
        models = ez.fit_sizes(part, target, sizes, loss="multinomial", lambda_2=0.01, effort="quick")
        classes = np.unique(target)
        for size in sizes:
            theirs = timed(partial(abess_model, part, target, "multinomial", [size], 0.01))[1]
            scores = X[test] @ np.asarray(theirs.coef_).reshape(X.shape[1], -1) + np.ravel(theirs.intercept_)
            right.setdefault(("ellzero", size), []).append(float((models[size].predict(X[test]) == y[test]).mean()))
            right.setdefault(("abess", size), []).append(float((classes[scores.argmax(axis=1)] == y[test]).mean()))
    return [", ".join(f"{np.mean(right[tool, size]):.3f}" for size in sizes) for tool in ("ellzero", "abess")]


def real(quick: bool) -> Section:
    section = Section("Real data")
    if not file_of("TOX_171_171x5748.npz").exists():
        section.text = "ELLZERO_DATA names no folder with the data."
        return section
    digits, wine, lymphoma = load_digits(), load_wine(), genes("lymphoma_96x4026.npz", log=False)
    large = np.isin(lymphoma[1], [label for label in np.unique(lymphoma[1]) if (lymphoma[1] == label).sum() >= 4])
    cases: dict[str, tuple[Array, NDArray[Any], int]] = {
        "wine, 3 classes": (scaled(wine.data), wine.target, 8),
        "TOX-171, 4 classes": (*genes("TOX_171_171x5748.npz", log=True), 8),
        "lymphoma, 7 classes": (scaled(lymphoma[0][large]), lymphoma[1][large], 7),
        "digits, 10 classes": (scaled(digits.data), digits.target, 4 if quick else 12),
    }
    rows, rates, sizes = [], [], (2, 4, 8)
    for name, (X, y, largest) in cases.items():
        rows.append(compared(section, name, X, y, "multinomial", 4 if quick else largest))
        rates.append([name, *accuracy(X, y, sizes)])
        print(" | ".join(rates[-1]), flush=True)
    text = REAL_TEXT.format(splits=SPLITS)
    section.text = f"{text} {COMPARED_TEXT}\n\n{table(HEADER, rows)}\n\n{table(['data', 'ellzero', 'abess'], rates)}"
    section.raw.append({"accuracy": rates})
    return section


def proved(section: Section, X: Any, y: NDArray[Any], name: str, **settings: Any) -> list[Any]:
    """Solve and verify; the cells of the row behind the name."""
    start = time.perf_counter()
    found = ez.solve(X, y, n_jobs=2, **settings)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    report = ez.verify(found.certificate, X, y)
    if not report.valid:
        section.checks.append(f"{name}: {report.reasons}")
    section.raw.append({"name": name, "objective": found.objective, "gap": found.gap, "seconds": seconds, "nodes": found.nodes})
    cells = [f"{found.objective:.6f}", found.status, f"{100.0 * found.gap:.2g} %", three_digits(seconds), f"{found.nodes:,}"]
    cells += [f"{report.valid}, {three_digits(time.perf_counter() - start)} s"]
    print(name, " | ".join(cells), flush=True)
    return [*cells, found]


EXACT_HEADER = ["objective", "status", "gap", "seconds", "nodes", "verified"]


def exact(quick: bool) -> Section:
    section = Section("Proved")
    if not file_of("TOX_171_171x5748.npz").exists():
        section.text = "ELLZERO_DATA names no folder with the data."
        return section
    rows = []
    for name, log in (("TOX_171_171x5748.npz", True), ("lymphoma_96x4026.npz", False)):
        X, y = genes(name, log)
        for ridge in (0.1,) if quick else (0.1, 0.05):
            for k in (2, 3) if quick else (1, 2, 3, 4):
                what = f"{name.split('_')[0]}, {len(np.unique(y))} classes, lambda_2 = {ridge:g}"
                *cells, _ = proved(section, X, y, what, k=k, loss="multinomial", lambda_2=ridge, time_limit=300.0)
                rows.append([what, str(k), *cells])
    section.text = f"{EXACT_TEXT}\n\n{table(['data', 'k', *EXACT_HEADER], rows)}"
    return section


def heart() -> tuple[pd.DataFrame, NDArray[Any], list[str]]:
    """The columns, the disease, and the attribute of each column."""
    frame = pd.read_csv(file_of("heart.csv"))
    y = frame.pop("Disease").to_numpy()
    names = [name.replace("Male", "Sex").replace("Female", "Sex") for name in frame.columns]
    return frame, y, [next(attribute for attribute in COSTS if name.startswith(attribute)) for name in names]


def budgets(quick: bool) -> Section:
    section = Section("A budget of costs")
    if not file_of("heart.csv").exists():
        section.text = "ELLZERO_DATA names no folder with the data."
        return section
    frame, y, groups = heart()
    cost = np.array([COSTS[group] for group in groups])
    rows = []
    for budget in (10.0, 100.0) if quick else (5.0, 10.0, 30.0, 100.0, 120.0, 200.0, 300.0, 400.0):
        settings = {"budget": budget, "groups": groups, "feature_cost": cost, "lambda_2": 1e-3, "standardize": True}
        *cells, found = proved(section, frame, y, f"budget {budget:g}", **settings)
        inside = ", ".join(dict.fromkeys(groups[j] for j in found.support))
        rows.append([f"{budget:g}", f"{found.model.spent:.2f}", *cells, inside])
    section.text = f"{BUDGET_TEXT}\n\n{table(['budget', 'spent', *EXACT_HEADER, 'tests'], rows)}"
    return section


def main() -> None:
    """Run the chosen sections and write the report."""
    arguments = arguments_of(__doc__).parse_args()
    quick = bool(arguments.quick)
    sections = {
        "drawn": lambda: synthetic(quick),
        "real": lambda: real(quick),
        "exact": lambda: exact(quick),
        "budgets": lambda: budgets(quick),
    }
    Report("outputs", arguments).write(INTRODUCTION, sections)


if __name__ == "__main__":
    main()
