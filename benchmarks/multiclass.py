"""More than two classes: softmax and one against the rest, on shared features or on each class's own; writes Markdown tables.

python -m benchmarks.multiclass [--quick] [--only SECTION] [--out FILE]

ELLZERO_DATA names the folder with the gene expressions. Sections that a call leaves out are kept from the last one
(build/bench-multiclass.json).
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit

import ellzero as ez
from benchmarks.exact_data import file_of
from benchmarks.sections import Report, Section, arguments_of
from experiments.measurement.markdown import table, three_digits

Array = NDArray[np.float64]
Data = tuple[Array, NDArray[Any]]
METHODS = ("multinomial", "ovr_shared", "ovr")
SPLITS = 5
TRAINING_SHARE, MOST_TRAINING_ROWS = 0.65, 500
FEWEST_ROWS = 5  # of a class that takes part
LARGEST = 40  # features of a model, so that a run takes minutes
INTRODUCTION = """# More than two classes

`ez.L0ClassifierCV(multi_class=..., max_support=40)` with nothing else set: lambda_0, lambda_2 and the mean of up to three
models are chosen by five folds of the training rows, by coordinate descent. "multinomial" is softmax on shared features,
"ovr_shared" each class against the rest on shared features, "ovr" each class against the rest on its own features.
Held-out accuracy in percent and log loss on the other rows, means over random splits; features of all classes together;
processor seconds of one fit, one thread.
"""
TEXT = """{splits} stratified splits, {share:.0%} of the rows train, at most {most}. The last lines count on how many sets a
method is the best by more than the standard error of the differences between splits, and give means over the sets.

{body}"""


def real(name: str) -> Data:
    """Gene expressions; classes with too few rows are left out."""
    with np.load(file_of(name)) as file:
        X, y = file["X"].astype(np.float64), file["y"]
    labels, rows = np.unique(y, return_counts=True)
    kept = np.isin(y, labels[rows >= FEWEST_ROWS])
    return X[kept], y[kept]


def softmax(n: int, p: int, classes: int, features: int, correlation: float, seed: int) -> Data:
    """Classes drawn from a softmax model on shared features; neighbouring columns are correlated."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1.0 - correlation**2) * X[:, j]
    coef = np.zeros((p, classes))
    coef[np.linspace(0, p - 1, features).astype(int)] = 1.5 * rng.standard_normal((features, classes))
    return X, (X @ coef + rng.gumbel(size=(n, classes))).argmax(axis=1)


def own_features(n: int, p: int, classes: int, features: int, seed: int) -> Data:
    """Each class has its own features, whose means are raised in its rows alone."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.standard_normal((n, p))
    for c in range(classes):
        X[np.ix_(y == c, np.arange(c * features, (c + 1) * features))] += 1.2
    return X, y


def gaussian(n: int, p: int, classes: int, features: int, seed: int) -> Data:
    """Gaussian classes of unequal sizes, whose means differ in a few columns; all columns share a common part."""
    rng = np.random.default_rng(seed)
    share = np.arange(1.0, classes + 1.0)
    y = rng.choice(classes, n, p=share / share.sum())
    X = rng.standard_normal((n, p)) + 0.7 * rng.standard_normal((n, 1))
    X[:, :features] += 1.5 * rng.standard_normal((classes, features))[y]
    return X, y


def ordered(n: int, p: int, classes: int, seed: int) -> Data:
    """Classes in order along one direction of five features: those in the middle cannot be told from the rest linearly."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    score = X[:, :5].sum(axis=1) + 0.5 * rng.standard_normal(n)
    return X, np.searchsorted(np.quantile(score, np.linspace(0.0, 1.0, classes + 1)[1:-1]), score)


SETS: dict[str, tuple[Callable[[], Data], str | None]] = {
    "iris": (partial(datasets.load_iris, return_X_y=True), None),
    "wine": (partial(datasets.load_wine, return_X_y=True), None),
    "digits": (partial(datasets.load_digits, return_X_y=True), None),
    "TOX-171": (partial(real, "TOX_171_171x5748.npz"), "TOX_171_171x5748.npz"),
    "lymphoma": (partial(real, "lymphoma_96x4026.npz"), "lymphoma_96x4026.npz"),
    "drawn softmax": (partial(softmax, 600, 200, 4, 8, 0.0, 1), None),
    "drawn softmax, correlated": (partial(softmax, 600, 200, 4, 8, 0.8, 2), None),
    "drawn, many columns": (partial(softmax, 300, 2_000, 3, 6, 0.5, 3), None),
    "drawn, own features": (partial(own_features, 600, 200, 5, 3, 4), None),
    "drawn gaussian": (partial(gaussian, 600, 100, 5, 6, 5), None),
    "drawn ordered": (partial(ordered, 600, 100, 4, 6), None),
}
FAST = ("iris", "wine")


def measured(X: Array, y: NDArray[Any], number: int) -> dict[str, list[float]]:
    """Return accuracy, log loss, features and seconds of each method on one split."""
    rows = min(round(TRAINING_SHARE * len(y)), MOST_TRAINING_ROWS)
    train, test = next(StratifiedShuffleSplit(1, train_size=rows, random_state=number).split(X, y))
    out = {}
    for method in METHODS:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ez.L0ClassifierCV(multi_class=method, max_support=LARGEST).fit(X[train], y[train])
        seconds = time.process_time() - start
        share = model.predict_proba(X[test])
        loss = log_loss(y[test], share, labels=model.classes_)
        out[method] = [100.0 * model.score(X[test], y[test]), float(loss), float(len(model.support_)), seconds]
    return out


def compared(section: Section, name: str, splits: int) -> list[str]:
    """The row of one set."""
    X, y = SETS[name][0]()
    found = [measured(np.asarray(X, dtype=np.float64), y, number) for number in range(splits)]
    section.raw.append({"name": name, "shape": X.shape, "classes": len(np.unique(y)), "splits": found})
    figures = {method: np.array([split[method] for split in found]).mean(axis=0) for method in METHODS}
    row = [f"{name} ({X.shape[0]:,} x {X.shape[1]:,}, {len(np.unique(y))})"]
    formats: Sequence[Callable[[float], str]] = (
        lambda value: f"{value:.1f}",
        lambda value: f"{value:.3f}",
        lambda value: f"{value:.1f}",
        three_digits,
    )
    row += [" / ".join(write(float(figures[method][at])) for method in METHODS) for at, write in enumerate(formats)]
    print(" | ".join(row), flush=True)
    return row


def verdicts(section: Section) -> list[list[str]]:
    """The lines below the table: on how many sets each method is clearly the best, and means."""
    best = {name: dict.fromkeys(METHODS, 0) for name in ("accuracy", "log loss")}
    for entry in section.raw:
        values = {method: np.array([split[method] for split in entry["splits"]]) for method in METHODS}
        for at, (name, sign) in enumerate((("accuracy", 1.0), ("log loss", -1.0))):
            for method in METHODS:
                others = [sign * (values[method][:, at] - values[other][:, at]) for other in METHODS if other != method]
                clear = [gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else True for gain in others]
                best[name][method] += all(clear) and all(gain.mean() > 0.0 for gain in others)
    means = np.array([[np.mean([split[m] for split in entry["splits"]], axis=0) for m in METHODS] for entry in section.raw])
    means = means.mean(axis=0)
    counts = [" / ".join(str(best[name][method]) for method in METHODS) for name in best]
    figures = [" / ".join(f"{means[m, at]:.{digits}f}" for m in range(len(METHODS))) for at, digits in enumerate((1, 3, 1, 1))]
    return [["clearly the best on", *counts, "", ""], ["mean", *figures]]


def sets(quick: bool) -> Section:
    section = Section("Held-out scores")
    there = [
        name for name, (_, file) in SETS.items() if file is None or ("ELLZERO_DATA" in os.environ and file_of(file).exists())
    ]
    missing = [name for name in SETS if name not in there]
    section.checks += [f"{name}: no data, ELLZERO_DATA names the folder." for name in missing]
    splits = 2 if quick else SPLITS
    rows = [compared(section, name, splits) for name in there if not quick or name in FAST]
    header = ["data (rows x columns, classes)", "accuracy", "log loss", "features", "seconds"]
    body = f"In each cell: {' / '.join(METHODS)}.\n\n{table(header, [*rows, *verdicts(section)])}"
    section.text = TEXT.format(splits=splits, share=TRAINING_SHARE, most=MOST_TRAINING_ROWS, body=body)
    return section


def main() -> None:
    arguments = arguments_of(__doc__).parse_args()
    report = Report("multiclass", arguments)
    report.write(INTRODUCTION, {"sets": partial(sets, arguments.quick)})


if __name__ == "__main__":
    main()
