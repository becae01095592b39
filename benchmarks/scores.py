"""Score cards: losses, seconds of search and of proof, and FasterRisk in the same run; writes Markdown tables.

python -m benchmarks.scores [--quick] [--only SECTION] [--out FILE]

ELLZERO_DATA names the folder with the real data, ELLZERO_FASTERRISK_PYTHON an interpreter that has FasterRisk.
fastsparsegams takes part if it is installed. Sections that a call leaves out are kept from the last one
(build/bench-scores.json).
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import ellzero as ez
from benchmarks.exact_data import file_of, missing
from benchmarks.processes import THREAD_VARIABLES
from benchmarks.sections import Report, Section, arguments_of
from ellzero.scores.problem import Card, FoundCard
from experiments.measurement.markdown import table, three_digits

Array = NDArray[np.float64]
# FasterRisk needs old versions of its libraries, and so its own interpreter.
FASTER_RISK = """
import sys, time
import numpy as np
from fasterrisk.fasterrisk import RiskScoreOptimizer

folder, k = sys.argv[1], int(sys.argv[2])
data = np.load(folder + "/data.npz")
start = time.perf_counter()
optimizer = RiskScoreOptimizer(X=data["X"].astype(float), y=data["y"], k=k)
optimizer.optimize()
multipliers, intercepts, coefficients = optimizer.get_models()
seconds = time.perf_counter() - start
models = {"multipliers": multipliers, "intercepts": intercepts, "coefficients": coefficients}
np.savez(folder + "/models.npz", seconds=seconds, **models)
"""
LONGEST = 300.0  # seconds of FasterRisk
SECONDS, THREADS = 60.0, 2
INTRODUCTION = """# Score cards

At most k columns of zeros and ones have whole points from -5 to 5; the scale is at most 2. Losses are mean logistic losses
on all rows. "FasterRisk" has its default settings, "refit" is the best of its pool after scale and intercept were fitted
again. "Search" is the heuristic alone, "proof" all that comes after it. Every certificate was verified.
"""
CARDS_TEXT = """At most {seconds:g} s for search and proof, `n_jobs={threads}`. heart, compas and fico are real,
thresholded at quantiles, and so is breast cancer (scikit-learn's). The others are drawn: tables of the shapes of well-known
ones, whose columns are thresholds of correlated numbers, with labels by a card of eight columns and noise; "mushroom" has no
noise."""
FOLDS_TEXT = """The same five folds for all; questions are made from the training rows. Loss is the mean logistic loss on
held-out rows. The slope is that of held-out labels on log-odds: 1 is perfect, below 1 is too sure."""
WIDE_TEXT = """Every distinct value is a threshold: FICO {fico}, COMPAS {compas}. Search without a proof, `n_jobs={threads}`."""
MONOTONE_TEXT = """Every threshold's coefficient is at least zero, or at most zero, as the attribute's correlation with the
target says, and at most 10 either way. Logistic loss without shrinkage, coordinate descent; fastsparsegams has the same
bounds. Of each path: the model with the most thresholds up to a size. AUC is that of
a fifth of the rows, held out."""
HEADER = [
    "data",
    "k",
    "FasterRisk",
    "refit",
    "s",
    "here",
    "search s",
    "status",
    "proof s",
    "supports",
    "gap",
    "MB",
    "`verify` s",
]


class Questions(NamedTuple):
    """A table of questions: raw columns are kept for folds."""

    name: str
    X: NDArray[np.uint8]
    y: Array


def csv(name: str, target: int) -> tuple[Array, Array]:
    """Return a table of numbers without its target, and the target as -1 and +1."""
    lines = file_of(name).read_text().replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")[1:]
    values = np.array([line.split(",") for line in lines], dtype=np.float64)
    target %= values.shape[1]
    return np.delete(values, target, axis=1), np.where(values[:, target] > 0.0, 1.0, -1.0)


RAW: dict[str, tuple[Callable[[], tuple[Array, Array]], int]] = {
    "heart": (lambda: csv("heart.csv", 0), 3),
    "compas": (lambda: csv("compas.csv", -1), 5),
    "fico": (lambda: csv("fico.csv", -1), 4),
    "breast cancer": (lambda: (load_breast_cancer().data, np.where(load_breast_cancer().target == 0, 1.0, -1.0)), 3),
}
SHAPES = {"recidivism": (1_563, 84), "adult": (32_561, 34), "spambase": (4_601, 114), "mushroom": (8_124, 94)}


def distinct(X: NDArray[Any], least: float = 0.005) -> NDArray[np.uint8]:
    """Return the columns without rare ones, copies and opposites of others, as in the design."""
    kept, seen = [], set[bytes]()
    for j in range(X.shape[1]):
        share, one = X[:, j].mean(), np.ascontiguousarray(X[:, j], dtype=np.uint8)
        if min(share, 1.0 - share) < least or one.tobytes() in seen:
            continue
        seen |= {one.tobytes(), (1 - one).tobytes()}
        kept.append(j)
    return np.ascontiguousarray(X[:, kept], dtype=np.uint8)


def questions(name: str) -> Questions:
    """Return a real table as questions."""
    raw, per = RAW[name]
    X, y = raw()
    return Questions(name, distinct(ez.Thresholds(per=per).fit_transform(X)), y)


def drawn(name: str) -> Questions:
    """Return a table of the shape of a real one: thresholds of correlated numbers, and labels by a card."""
    n, p = SHAPES[name]
    rng = np.random.default_rng(p)
    raw = rng.standard_normal((n, p // 3 + 1)) + 0.7 * rng.standard_normal((n, 1))
    X = np.hstack([raw >= cut for cut in (-0.8, 0.2, 1.1)]).astype(np.uint8)[:, rng.permutation(3 * raw.shape[1])[:p]]
    eta = X[:, :8] @ np.array([4, -3, 3, 2, -2, 2, 1, -1])
    noise = 0.0 if name == "mushroom" else 2.0 * rng.logistic(size=n)
    return Questions(f"{name}-like", X, np.where(eta - np.median(eta) + noise > 0.0, 1.0, -1.0))


def faster_risk(X: NDArray[Any], y: Array, k: int) -> tuple[Card, Card, float] | None:
    """Return FasterRisk's card, the best of its pool after a refit, and its seconds; None if there is none in time."""
    python = os.environ.get("ELLZERO_FASTERRISK_PYTHON")
    if not python:
        return None
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/data.npz", X=X, y=y)
        words = [python, "-W", "ignore", "-c", FASTER_RISK, folder, str(k)]
        try:
            subprocess.run(words, check=True, timeout=LONGEST, stdout=subprocess.DEVNULL, env=os.environ | one_thread())
        except subprocess.TimeoutExpired:
            return None
        found = np.load(f"{folder}/models.npz")
    problem = ez.RiskScore(k)._problem(X, y, None)
    cards = []
    for multiplier, intercept, points in zip(found["multipliers"], found["intercepts"], found["coefficients"], strict=True):
        support = np.flatnonzero(points)
        whole, scale, start_at = points[support].astype(np.int64), 1.0 / float(multiplier), float(intercept / multiplier)
        cards.append(Card(support, whole, scale, start_at, problem.objective(support, whole, scale, start_at)))
    refits = [problem.card(FoundCard(card.support.tolist(), card.points.tolist(), *refit(X, y, card))) for card in cards]
    return min(cards, key=loss_of), min(refits, key=loss_of), float(found["seconds"])


def one_thread() -> dict[str, str]:
    return dict.fromkeys(THREAD_VARIABLES, "1")


def loss_of(card: Card) -> float:
    return card.loss


def refit(X: NDArray[Any], y: Array, card: Card, most: float = 2.0) -> tuple[float, float]:
    """Return the best scale up to `most`, and intercept, of the points of a card."""
    score = card.score(X).astype(np.float64)
    model = ez.fit_path(score[:, None], y, lambda_0=[0.0], lower=0.0, upper=most, loss="logistic", unpenalized=[0], tol=1e-10)
    return float(model.coef.toarray()[0, 0]), float(model.intercept[0])


def cards(quick: bool) -> Iterator[Callable[[], Questions]]:
    """Yield the tables."""
    for name in ("heart",) if quick else RAW:
        yield lambda name=name: questions(name)  # type: ignore[misc]
    for name in () if quick else SHAPES:
        yield lambda name=name: drawn(name)  # type: ignore[misc]


def card_row(section: Section, data: Questions, k: int, seconds: float) -> list[str]:
    """Return the row of one card, and note what looks wrong."""
    other = faster_risk(data.X, data.y, k)
    card = ez.RiskScore(k, time_limit=seconds, n_jobs=THREADS, cv=2).fit(data.X, data.y)
    start = time.perf_counter()
    report = ez.verify(card.certificate_, data.X, data.y)
    verified = time.perf_counter() - start
    if not report.valid:
        section.checks.append(f"{data.name}, k = {k}: {report.reasons}")
    if other is not None and card.loss_ > min(other[0].loss, other[1].loss) * (1.0 + 1e-9):
        section.checks.append(f"{data.name}, k = {k}: FasterRisk's card is better")
    with tempfile.TemporaryDirectory() as folder:
        card.certificate_.save(Path(folder) / "proof.npz")
        size = (Path(folder) / "proof.npz").stat().st_size / 1e6
    peers = ["", "", ""] if other is None else [f"{other[0].loss:.5f}", f"{other[1].loss:.5f}", three_digits(other[2])]
    cells = [
        f"{card.loss_:.5f}",
        three_digits(card.seconds_[0]),
        card.status_,
        three_digits(card.seconds_[1]),
        f"{card.supports_:,}",
    ]
    gap = "0" if card.status_ == "optimal" else f"{100.0 * card.gap_:.2g} %"
    section.raw.append({"data": data.name, "k": k, "loss": card.loss_, "status": card.status_, "gap": card.gap_})
    row = [f"{data.name} {data.X.shape}", str(k), *peers, *cells, gap, three_digits(size), three_digits(verified)]
    print(" | ".join(row), flush=True)
    return row


def proved(quick: bool) -> Section:
    """Return losses, seconds and gaps of the tables of the design."""
    section = Section("Cards, proved")
    if reason := missing("FICO"):
        section.text = reason
        return section
    rows = []
    for load in cards(quick):
        data = load()
        rows += [card_row(section, data, k, 5.0 if quick else SECONDS) for k in ((3,) if quick else (3, 5, 7))]
    section.text = "\n\n".join([CARDS_TEXT.format(seconds=SECONDS, threads=THREADS), table(HEADER, rows)])
    return section


def calibration_slope(y: Array, risk: Array) -> float:
    """Return the slope of the labels on the log-odds."""
    odds = np.log(np.clip(risk, 1e-6, 1 - 1e-6)) - np.log1p(-np.clip(risk, 1e-6, 1 - 1e-6))
    path = ez.fit_path(odds[:, None], y, lambda_0=[0.0], loss="logistic", unpenalized=[0])
    return float(path.coef.toarray()[0, 0])


def held_out(X: NDArray[Any], y: Array, train: NDArray[Any], k: int) -> Iterator[tuple[str, Callable[[NDArray[Any]], Array]]]:
    """Yield fitted methods, as functions from rows to risks."""
    card = ez.RiskScore(k, time_limit=20.0, n_jobs=THREADS, cv=2).fit(X[train], y[train])
    yield "score card", lambda rows: card.predict_proba(rows)[:, 1]
    model = ez.L0Classifier(k=k, lambda_2=1.0 / len(train)).fit(X[train].astype(np.float64), y[train])
    yield "L0Classifier", lambda rows: model.predict_proba(rows.astype(np.float64))[:, 1]
    found = faster_risk(X[train], y[train], k)
    if found is not None:
        yield "FasterRisk", lambda rows: found[0].risk(found[0].score(rows))


def folds(quick: bool) -> Section:
    """Return how cards do on held-out rows."""
    section, rows = Section("Held out"), []
    if reason := missing("FICO"):
        section.text = reason
        return section
    for name in ("heart",) if quick else ("heart", "compas", "fico", "breast cancer"):
        raw, per = RAW[name]
        values, y = raw()
        for k in (5,):
            risks: dict[str, Array] = {}
            for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(values, y):
                asked = ez.Thresholds(per=per).fit(values[train])
                X = asked.transform(values)
                for method, risk in held_out(X, y, train, k):
                    risks.setdefault(method, np.full(len(y), np.nan))[test] = risk(X[test])
            for method, held in risks.items():
                loss = -np.log(np.clip(np.where(y > 0.0, held, 1.0 - held), 1e-15, 1.0)).mean()
                cells = [f"{roc_auc_score(y > 0.0, held):.4f}", f"{loss:.4f}", f"{calibration_slope(y, held):.3f}"]
                rows.append([name, str(k), method, *cells])
                section.raw.append({"data": name, "k": k, "method": method, "cells": cells})
                print(" | ".join(rows[-1]), flush=True)
    section.text = "\n\n".join([FOLDS_TEXT, table(["data", "k", "method", "AUC", "loss", "slope"], rows)])
    return section


def every_threshold(name: str) -> tuple[Questions, NDArray[Any]]:
    """Return a real table with a question at every distinct value, and the raw column of each."""
    X, y = RAW[name][0]()
    asked = ez.Thresholds(per=None).fit(X)
    return Questions(name, asked.transform(X), y), np.array([question.column for question in asked.questions_])


def wide(quick: bool) -> Section:
    """Return searches where every value is a threshold."""
    section, rows, shapes = Section("Every value a threshold"), [], {}
    if reason := missing("FICO"):
        section.text = reason
        return section
    for name in ("compas",) if quick else ("compas", "fico"):
        data, _ = every_threshold(name)
        shapes[name] = f"{data.X.shape[0]:,} x {data.X.shape[1]:,}"
        for k in (5,) if quick else (5, 10):
            problem = ez.RiskScore(k)._problem(data.X, data.y, None)
            start = time.perf_counter()
            found = problem.card(problem.core(THREADS).search(SECONDS))
            seconds = time.perf_counter() - start
            other = faster_risk(data.X, data.y, k)
            peers = ["", "", ""] if other is None else [f"{other[0].loss:.5f}", f"{other[1].loss:.5f}", three_digits(other[2])]
            auc = roc_auc_score(data.y > 0.0, found.score(data.X))
            rows.append([name, str(k), *peers, f"{found.loss:.5f}", three_digits(seconds), f"{auc:.4f}"])
            section.raw.append({"data": name, "k": k, "loss": found.loss, "seconds": seconds})
            if other is not None and found.loss > min(other[0].loss, other[1].loss) * (1.0 + 1e-9):
                section.checks.append(f"{name}, k = {k}: FasterRisk's card is better")
            print(" | ".join(rows[-1]), flush=True)
    head = ["data", "k", "FasterRisk", "refit", "s", "here", "s", "AUC on the same rows"]
    text = WIDE_TEXT.format(fico=shapes.get("fico", "left out"), compas=shapes["compas"], threads=THREADS)
    section.text = "\n\n".join([text, table(head, rows)])
    return section


def fastsparsegams_path(X: Array, y: Array, low: Array, high: Array, most: int, out: Any) -> None:
    """Put the path of fastsparsegams into a queue: coefficients, intercepts, seconds."""
    import fastsparsegams

    start = time.perf_counter()
    model = fastsparsegams.fit(
        X,
        y,
        loss="Logistic",
        penalty="L0",
        num_lambda=100,
        max_support_size=most,
        lows=low,
        highs=high,
    )
    seconds = time.perf_counter() - start
    coef = np.asarray(model.coeffs[0].todense()).T
    out.put((coef, np.asarray(model.intercepts[0]).ravel(), seconds))


SIZES = (10, 20, 40)


def peer_path(*arguments: Any) -> tuple[Array, Array, float] | None:
    """Return fastsparsegams' path, in its own process, since it may crash; None if it has none."""
    queue: Any = multiprocessing.get_context("spawn").Queue()
    work = multiprocessing.get_context("spawn").Process(target=fastsparsegams_path, args=(*arguments, queue))
    work.start()
    try:
        found: tuple[Array, Array, float] = queue.get(timeout=300)
    except Exception:
        return None
    finally:
        work.terminate()
        work.join()
    return found


def monotone(quick: bool) -> Section:
    """Return monotone additive models of some sizes."""
    section, rows = Section("Monotone additive models"), []
    if reason := missing("FICO"):
        section.text = reason
        return section
    for name in ("compas",) if quick else ("compas", "fico"):
        data, column = every_threshold(name)
        raw, y = RAW[name][0]()
        X = np.asfortranarray(data.X, dtype=np.float64)
        signs = np.array([np.corrcoef(raw[:, j], y)[0, 1] for j in column])
        low, high = np.where(signs >= 0.0, 0.0, -10.0), np.where(signs >= 0.0, 10.0, 0.0)
        test = np.random.default_rng(0).random(len(y)) < 0.2
        train, most = np.asfortranarray(X[~test]), max(SIZES)
        start = time.perf_counter()
        path = ez.fit_path(train, y[~test], loss="logistic", max_support=most, lower=low, upper=high, n_jobs=THREADS)
        found = {"ellzero": (path.coef.toarray(), np.asarray(path.intercept), time.perf_counter() - start)}
        other = peer_path(train, y[~test], low, high, most)
        if other is not None:
            found["fastsparsegams"] = other
        for method, (coef, intercept, seconds) in found.items():
            size = np.count_nonzero(coef, axis=1)
            for wanted in SIZES:
                if not (size <= wanted).any():
                    continue
                best = np.flatnonzero(size == size[size <= wanted].max())[-1]
                eta = X @ coef[best] + intercept[best]
                loss = np.logaddexp(0.0, -y * eta)[~test].mean()
                auc = roc_auc_score(y[test] > 0.0, expit(eta[test]))
                cells = [str(wanted), str(size[best]), f"{loss:.5f}", f"{auc:.4f}", three_digits(seconds)]
                rows.append([f"{name} {X.shape}", method, *cells])
                print(" | ".join(rows[-1]), flush=True)
    section.text = "\n\n".join(
        [MONOTONE_TEXT, table(["data", "method", "up to", "size", "loss", "AUC", "s of the path"], rows)]
    )
    return section


def main() -> None:
    """Run the chosen sections and write the report."""
    arguments = arguments_of(__doc__).parse_args()
    quick = bool(arguments.quick)
    sections = {
        "cards": lambda: proved(quick),
        "folds": lambda: folds(quick),
        "wide": lambda: wide(quick),
        "monotone": lambda: monotone(quick),
    }
    Report("scores", arguments).write(INTRODUCTION, sections)


if __name__ == "__main__":
    main()
