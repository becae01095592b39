"""One seed: a true certificate of a small problem, many mutations of it, and a share of the catalogue of tampering."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import ellzero as ez
from fuzz.certificates.forgeries import forgeries
from fuzz.certificates.judging import Court
from fuzz.certificates.mutations import mutate
from fuzz.certificates.sealed import Draft
from fuzz.certificates.tampering.shares import tampered
from fuzz.problems.drawing import draw_problem
from fuzz.problems.problem import Problem
from fuzz.problems.structure import PARTS
from fuzz.records import Record
from fuzz.running.pool import Task

__all__ = ["MUTATIONS", "run", "true_certificate"]

MUTATIONS = 50  # of each true certificate
GROWING = 7  # of eight seeds, this one's proof rests on the growth of the loss
STRUCTURED = (1, 3, 5)  # and these problems have prices, groups or several outputs
FOLDER = Path("build/fuzz/certificates")


def run(task: Task) -> Record:
    """Judge a group of forgeries, for a negative seed, or else a true certificate and its mutations."""
    return run_forgeries(task) if task.seed < 0 else run_mutations(task)


def run_forgeries(task: Task) -> Record:
    """Judge the forgeries of a group; the first group has the seed -1."""
    record, begin = Record("forgeries", task.seed), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        court = Court(record, FOLDER)
        for name, forged, expected, true in forgeries(-1 - task.seed):
            record.count("forgeries")
            court.judge(forged, name, expected, true)
    record.seconds = time.perf_counter() - begin
    return record


def run_mutations(task: Task) -> Record:
    """Judge a true certificate and its mutations."""
    record, begin = Record("mutations", task.seed), time.perf_counter()
    rng = np.random.default_rng([task.seed, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        original, expected = true_certificate(rng, draw(rng, task.seed % 8))
        if original is None:
            record.count("no certificate")
            return record
        court = Court(record, FOLDER)
        court.judge(original, "as it is")
        for number in range(MUTATIONS):
            changed, words = mutate(rng, original)
            reads = rng.random() < 0.3
            court.judge(changed, f"{number}: {'; '.join(words)}", expected if reads else None, original if reads else None)
        for name, changed in tampered(original, task.seed):
            court.judge(changed, name)
    record.seconds = time.perf_counter() - begin
    return record


def draw(rng: np.random.Generator, kind: int) -> Problem:
    """Return a problem of the kind that this one of eight seeds has."""
    if kind == GROWING:
        return draw_overlapping(rng)
    return draw_problem(rng, largest_p=5, largest_n=16, parts=PARTS if kind in STRUCTURED else ())


def draw_overlapping(rng: np.random.Generator) -> Problem:
    """Return a classification problem that only the growth of its loss limits: no plane separates the classes."""
    n, p = int(rng.integers(16, 31)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, p)) * 10.0 ** (rng.choice([0.0, 3.0, 80.0]) * rng.uniform(-1.0, 1.0, p))
    X = X + rng.choice([0.0, 1.0, 1e4]) * X.std(axis=0)
    X[:, rng.random(p) < 0.1] = rng.choice([0.0, 1.0])
    y = (rng.standard_normal(n) > 0.5 * rng.standard_normal()).astype(int)
    y[:2] = 0, 1
    lower = np.where(rng.random(p) < 0.5, 0.0, -np.inf) if rng.random() < 0.3 else None
    return Problem(
        X=X,
        y=y,
        loss=str(rng.choice(["logistic", "hinge", "squared_hinge"])),
        lambda_0=float(rng.choice([0.0, 1e-3, 0.03])),
        k=int(rng.integers(1, p + 1)) if rng.random() < 0.6 else None,
        fit_intercept=bool(rng.random() < 0.6),
        standardize=bool(rng.random() < 0.4),
        sample_weight=rng.uniform(0.1, 2.0, n) * (rng.random(n) < 0.95) if rng.random() < 0.4 else None,
        unpenalized=(0,) if rng.random() < 0.2 else (),
        lower=lower,
    )


def true_certificate(rng: np.random.Generator, problem: Problem) -> tuple[Draft | None, dict[str, Any]]:
    """Return the certificate of a problem, or of a search for swaps, and what a reader would state."""
    gap, limit = float(rng.choice([1e-2, 1e-4, 1e-9])), int(rng.choice([3, 10**6], p=[0.2, 0.8]))
    settings = {**problem.settings(), "gap": gap, "node_limit": limit, "time_limit": 5.0}
    try:
        if rng.random() < 0.15 and problem.lambda_0 is not None and problem.k is None and problem.budget is None:
            settings |= {"bound": problem.bound, "lambda_0": problem.lambda_0}
            solution = ez.improve(problem.X, problem.y, swap_size=int(rng.integers(1, 3)), **settings)
        else:
            solution = ez.solve(problem.X, problem.y, **settings, **problem.form())
    except ez.InvalidInputError:
        return None, {}
    certificate = solution.certificate
    draft = Draft(dict(certificate.header), dict(certificate.arrays), problem.X, problem.y)
    return draft, as_expected(problem, draft)


def as_expected(problem: Problem, draft: Draft) -> dict[str, Any]:
    """Return the problem of a certificate as a reader would state it."""
    stated = {**problem.settings(), "lambda_0": problem.lambda_0 or 0.0, "k": problem.k, "budget": problem.budget}
    if draft.header["swap_size"] is not None:
        stated["swap_size"] = draft.header["swap_size"]
    for name in ("bound", "free_bound"):
        stated[name] = draft.header[name]
    return stated
