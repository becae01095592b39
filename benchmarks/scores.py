"""Score cards: losses, seconds of search and of proof, and FasterRisk in the same run; writes Markdown tables.

python -m benchmarks.scores [--quick] [--only SECTION] [--out FILE]

ELLZERO_DATA names the folder with the real data, ELLZERO_FASTERRISK_PYTHON an interpreter that has FasterRisk.
fastsparsegams takes part if it is installed. Sections that a call leaves out are kept from the last one
(build/bench-scores.json).
"""

from __future__ import annotations

import math
import multiprocessing
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import ellzero as ez
from benchmarks.exact_data import file_of
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
LONGEST = 300.0  # seconds of FasterRisk, fastsparsegams, or the verifier
SECONDS, THREADS = 60.0, 2
INTRODUCTION = f"""# Score cards

At most k columns have whole points from -5 to 5; the scale is at most 2. Losses are mean logistic losses
on all rows. "FasterRisk" has its default settings, "refit" is the best of its pool after scale and intercept were fitted
again. "Search" is the heuristic alone, "proof" all that comes after it. Certificates were verified for {LONGEST:g} s at most.
"""
CARDS_TEXT = """At most {seconds:g} s for search and proof, `n_jobs={threads}`. heart, compas, fico, recidivism and spambase are
thresholded at quantiles, and without rare columns, copies and opposites of others; breastcancer and mammo have columns of small
whole numbers. The files `*_data.csv` are those of RiskSLIM's repository. The machine's load reached
{load:.0f}: seconds are larger than on an idle one where that is above {threads}."""
WIDE = ("compas", "fico")
FOLDS_TEXT = """The same five folds for all; questions are made from the training rows. Loss is the mean logistic loss on
held-out rows. The slope is that of held-out labels on log-odds: 1 is perfect, below 1 is too sure."""
WIDE_TEXT = """Every distinct value is a threshold: {shapes}. Search without a proof, `n_jobs={threads}`."""
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


def in_process(target: Callable[..., None], *arguments: Any) -> Any:
    """Return what a function, in its own process, puts into a queue, its last argument; None if that takes too long."""
    queue: Any = multiprocessing.get_context("spawn").Queue()
    work = multiprocessing.get_context("spawn").Process(target=target, args=(*arguments, queue))
    work.start()
    try:
        return queue.get(timeout=LONGEST)
    except Empty:
        return None
    finally:
        work.terminate()
        work.join()


def verify(path: str, X: NDArray[Any], y: Array, out: Any) -> None:
    """Put the verifier's reasons to refuse a certificate into a queue, and its seconds."""
    start = time.perf_counter()
    report = ez.verify(path, X, y)
    out.put(([] if report.valid else report.reasons, time.perf_counter() - start))


class Questions(NamedTuple):
    """A table of questions: with the labels."""

    name: str
    X: NDArray[np.uint8]
    y: Array


class Source(NamedTuple):
    """A public table: its file, the column of the target, and the thresholds of each column; None: it has questions already."""

    file: str
    target: int
    per: int | None


TABLES = {
    "heart": Source("heart.csv", 0, 3),
    "breastcancer": Source("breastcancer_data.csv", 0, None),
    "mammo": Source("mammo_data.csv", 0, None),
    "compas": Source("compas.csv", -1, 5),
    "recidivism": Source("recidivism_data.csv", 0, 3),
    "fico": Source("fico.csv", -1, 4),
    "adult": Source("adult_data.csv", 0, None),
    "spambase": Source("spambase_data.csv", 0, 2),
    "mushroom": Source("mushroom_data.csv", 0, None),
}


def distinct(X: NDArray[Any], least: float = 0.005) -> NDArray[np.uint8]:
    """Return the columns without rare ones, copies and opposites of others, as in the design."""
    kept, seen = [], set[bytes]()
    for j in range(X.shape[1]):
        one = np.ascontiguousarray(X[:, j], dtype=np.uint8)
        share = one.mean() / one.max(initial=1)
        if min(share, 1.0 - share) < least or one.tobytes() in seen:
            continue
        seen |= {one.tobytes(), (1 - one).tobytes()}
        kept.append(j)
    return np.ascontiguousarray(X[:, kept], dtype=np.uint8)


def raw(name: str) -> tuple[Array, Array]:
    """Return a table of numbers without its target, and the target as -1 and +1."""
    file, target, _ = TABLES[name]
    lines = file_of(file).read_text().replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")[1:]
    values = np.array([line.split(",") for line in lines], dtype=np.float64)
    target %= values.shape[1]
    return np.delete(values, target, axis=1), np.where(values[:, target] > 0.0, 1.0, -1.0)


def asked(name: str, X: Array) -> Callable[[Array], Array]:
    """Return what makes questions of rows, learnt from the rows of X."""
    per = TABLES[name].per
    return (lambda rows: rows) if per is None else ez.Thresholds(per=per).fit(X).transform


def questions(name: str) -> Questions:
    """Return a table as questions."""
    X, y = raw(name)
    return Questions(name, distinct(asked(name, X)(X)), y)


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


def present(*names: str) -> tuple[list[str], str]:
    """Return the tables that the folder has, and a sentence about the others."""
    here = [name for name in names if "ELLZERO_DATA" in os.environ and file_of(TABLES[name].file).exists()]
    lacking = ", ".join(TABLES[name].file for name in names if name not in here)
    return here, f"`ELLZERO_DATA` must name a folder with {lacking} for the other tables." if lacking else ""


def card_row(section: Section, data: Questions, k: int, seconds: float, deadline: float) -> list[str]:
    """Return the row of one card, and note what looks wrong; none is begun after the deadline."""
    if time.monotonic() > deadline:
        raise TimeoutError
    other = faster_risk(data.X, data.y, k)
    card = ez.RiskScore(k, time_limit=seconds, n_jobs=THREADS, cv=2).fit(data.X, data.y)
    if other is not None and card.loss_ > min(other[0].loss, other[1].loss) * (1.0 + 1e-9):
        section.checks.append(f"{data.name}, k = {k}: FasterRisk's card is better")
    with tempfile.TemporaryDirectory() as folder:
        card.certificate_.save(Path(folder) / "proof.npz")
        size = (Path(folder) / "proof.npz").stat().st_size / 1e6
        checked = in_process(verify, f"{folder}/proof.npz", data.X, data.y)
    if checked is not None and checked[0]:
        section.checks.append(f"{data.name}, k = {k}: {checked[0]}")
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
    row = [f"{data.name} {data.X.shape}", str(k), *peers, *cells, gap, three_digits(size)]
    row.append(f"> {LONGEST:.0f}" if checked is None else three_digits(checked[1]))
    print(" | ".join(row), flush=True)
    return row


def proved(quick: bool, most: float) -> Section:
    """Return losses, seconds and gaps of the tables of the design; no card is begun after that many seconds."""
    section = Section("Cards, proved")
    names, lacking = present(*(["heart"] if quick else TABLES))
    rows, deadline, left, loads = [], time.monotonic() + most, list[str](), list[float]()
    for name in names:
        data = questions(name)
        for k in (3,) if quick else (3, 5, 7):
            try:
                rows.append(card_row(section, data, k, 5.0 if quick else SECONDS, deadline))
                loads.append(os.getloadavg()[0])
            except TimeoutError:
                left.append(f"{name} with k = {k}")
    left_out = f"Left out for lack of time: {', '.join(left)}." if left else ""
    parts = [
        CARDS_TEXT.format(seconds=SECONDS, threads=THREADS, load=max(loads, default=0.0)),
        table(HEADER, rows),
        left_out,
        lacking,
    ]
    section.text = "\n\n".join(filter(None, parts))
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
    names, lacking = present(*(["heart"] if quick else TABLES))
    for name in names:
        rows += fold_rows(section, name, 5)
    head = ["data", "k", "method", "AUC", "loss", "slope"]
    section.text = "\n\n".join([FOLDS_TEXT, table(head, rows), lacking]).rstrip()
    return section


def fold_rows(section: Section, name: str, k: int) -> list[list[str]]:
    """Return how the methods do on held-out rows of one table."""
    values, y = raw(name)
    risks: dict[str, Array] = {}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(values, y):
        X = np.asarray(asked(name, values[train])(values), dtype=np.uint8)
        for method, risk in held_out(X, y, train, k):
            risks.setdefault(method, np.full(len(y), np.nan))[test] = risk(X[test])
    rows = []
    for method, held in risks.items():
        loss = -np.log(np.clip(np.where(y > 0.0, held, 1.0 - held), 1e-15, 1.0)).mean()
        cells = [f"{roc_auc_score(y > 0.0, held):.4f}", f"{loss:.4f}", f"{calibration_slope(y, held):.3f}"]
        rows.append([name, str(k), method, *cells])
        section.raw.append({"data": name, "k": k, "method": method, "cells": cells})
        print(" | ".join(rows[-1]), flush=True)
    return rows


def every_threshold(name: str) -> tuple[Questions, NDArray[Any]]:
    """Return a real table with a question at every distinct value, and the raw column of each."""
    X, y = raw(name)
    cuts = ez.Thresholds(per=None).fit(X)
    return Questions(name, cuts.transform(X), y), np.array([question.column for question in cuts.questions_])


def wide_row(section: Section, data: Questions, k: int) -> list[str]:
    """Return the row of a search where every value is a threshold."""
    problem = ez.RiskScore(k)._problem(data.X, data.y, None)
    start = time.perf_counter()
    found = problem.card(problem.core(THREADS).search(SECONDS))
    seconds = time.perf_counter() - start
    other = faster_risk(data.X, data.y, k)
    peers = ["", "", ""] if other is None else [f"{other[0].loss:.5f}", f"{other[1].loss:.5f}", three_digits(other[2])]
    auc = roc_auc_score(data.y > 0.0, found.score(data.X))
    section.raw.append({"data": data.name, "k": k, "loss": found.loss, "seconds": seconds})
    if other is not None and found.loss > min(other[0].loss, other[1].loss) * (1.0 + 1e-9):
        section.checks.append(f"{data.name}, k = {k}: FasterRisk's card is better")
    row = [data.name, str(k), *peers, f"{found.loss:.5f}", three_digits(seconds), f"{auc:.4f}"]
    print(" | ".join(row), flush=True)
    return row


def wide(quick: bool) -> Section:
    """Return searches where every value is a threshold."""
    section, rows, shapes = Section("Every value a threshold"), [], []
    names, lacking = present(*WIDE[: 1 if quick else 2])
    for name in names:
        data, _ = every_threshold(name)
        shapes.append(f"{name} {data.X.shape[0]:,} x {data.X.shape[1]:,}")
        rows += [wide_row(section, data, k) for k in ((5,) if quick else (5, 10))]
    head = ["data", "k", "FasterRisk", "refit", "s", "here", "s", "AUC on the same rows"]
    text = WIDE_TEXT.format(shapes=", ".join(shapes), threads=THREADS)
    section.text = "\n\n".join([text, table(head, rows), lacking]).rstrip()
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


def monotone_rows(name: str) -> list[list[str]]:
    """Return monotone additive models of one table."""
    data, column = every_threshold(name)
    values, y = raw(name)
    X = np.asfortranarray(data.X, dtype=np.float64)
    signs = np.array([np.corrcoef(values[:, j], y)[0, 1] for j in column])
    low, high = np.where(signs >= 0.0, 0.0, -10.0), np.where(signs >= 0.0, 10.0, 0.0)
    test = np.random.default_rng(0).random(len(y)) < 0.2
    train, most = np.asfortranarray(X[~test]), max(SIZES)
    start = time.perf_counter()
    path = ez.fit_path(train, y[~test], loss="logistic", max_support=most, lower=low, upper=high, n_jobs=THREADS)
    found = {"ellzero": (path.coef.toarray(), np.asarray(path.intercept), time.perf_counter() - start)}
    other = in_process(fastsparsegams_path, train, y[~test], low, high, most)
    if other is not None:
        found["fastsparsegams"] = other
    rows = []
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
    return rows


def monotone(quick: bool) -> Section:
    """Return monotone additive models of some sizes."""
    section = Section("Monotone additive models")
    names, lacking = present(*WIDE[: 1 if quick else 2])
    rows = [row for name in names for row in monotone_rows(name)]
    head = ["data", "method", "up to", "size", "loss", "AUC", "s of the path"]
    section.text = "\n\n".join([MONOTONE_TEXT, table(head, rows), lacking]).rstrip()
    return section


def main() -> None:
    """Run the chosen sections and write the report."""
    parser = arguments_of(__doc__)
    parser.add_argument("--most", type=float, help="begin no card after so many seconds of its section")
    arguments = parser.parse_args()
    quick = bool(arguments.quick)
    sections = {
        "cards": lambda: proved(quick, math.inf if arguments.most is None else arguments.most),
        "folds": lambda: folds(quick),
        "wide": lambda: wide(quick),
        "monotone": lambda: monotone(quick),
    }
    Report("scores", arguments).write(INTRODUCTION, sections)


if __name__ == "__main__":
    main()
