"""The theorem on the estimation error in practice: squared error against n, p/k and k, compared with the L1 estimator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ellzero.exact.solve import solve
from ellzero.paths.fitting import fit_path
from ellzero.paths.sizes import fit_sizes
from experiments.experiment import Experiment, Record, Scale, Task
from experiments.rates_report import Results, draw, introduction, optimality
from experiments.rates_sweeps import HINGE, L1, PROOF, QUICK_SWEEPS, SWEEPS, Setting, Sweep
from experiments.rates_theory import population_norm

__all__ = ["RATES", "Rates"]

Array = NDArray[np.float64]
REPETITIONS = 20
QUICK_REPETITIONS = 12
LAMBDA_STEP = 0.8  # ratio of two neighbours on the L1 path: the least error on it is within 1 or 2 % of the least of all
RISEN = 1.05  # the L1 path ends once its error is this multiple of its least: from there on it only grows
PATH_LENGTH = 30  # points, down to 0.1 % of the first lambda_1: with few features the error may fall all the way
PROOF_SECONDS = 60.0


def fit_l0(X: Array, y: NDArray[np.int64], truth: Array, loss: str) -> Record:
    """Fit the theorem's estimator, which knows k and R, on all features and on the true ones alone; return its errors."""
    k, radius = int(np.count_nonzero(truth)), float(np.linalg.norm(truth))
    used = np.flatnonzero(truth)

    def fitted(columns: Array) -> tuple[Array, float]:
        model = fit_sizes(columns, y, [k], loss=loss, max_norm=2.0 * radius, fit_intercept=False, n_jobs=1)[k]
        out = np.zeros(columns.shape[1])
        out[model.support] = model.values
        return out, float(model.objective)

    coef, objective = fitted(X)
    known, known_objective = fitted(X[:, used])
    return {
        "error": squared(coef - truth),
        "found": int(np.count_nonzero(coef[used])),
        "size": int(np.count_nonzero(coef)),
        "norm": float(np.linalg.norm(coef)),
        "objective": objective,
        "known_error": squared(known - truth[used]),
        "known_objective": known_objective,
    }


def fit_l1(X: Array, y: NDArray[np.int64], truth: Array) -> Record:
    """Return the error of the point of the L1 path that is nearest to the truth: no choice of lambda_1 can do better."""
    first = float(np.abs(X.T @ y).max()) / (2.0 * len(y))  # from here on all coefficients are zero
    best: Record = {"error": squared(truth), "found": 0, "size": 0, "lambda_1": first}
    for weight in first * np.cumprod(np.full(PATH_LENGTH, LAMBDA_STEP)):
        model = fit_path(X, y, lambda_0=[0.0], lambda_1=float(weight), fit_intercept=False, n_jobs=1)[0]
        coef = np.zeros(len(truth))
        coef[model.support] = model.values
        error = squared(coef - truth)
        if error < best["error"]:
            found = int(np.count_nonzero(coef[truth != 0.0]))
            best = {"error": error, "found": found, "size": len(model.support), "lambda_1": float(weight)}
        elif error > RISEN * best["error"]:
            break
    return best


def prove(X: Array, y: NDArray[np.int64], truth: Array) -> Record:
    """Return the largest possible relative distance of the estimate's objective from the optimum.

    The ball ||beta||_2 <= 2R lies in the box |beta_j| <= 2R, so a lower bound over the box is one over the ball too.
    """
    ours = fit_l0(X, y, truth, "logistic")
    k, box = int(np.count_nonzero(truth)), 2.0 * float(np.linalg.norm(truth))
    proof = solve(X, y, loss="logistic", k=k, bound=box, fit_intercept=False, n_jobs=1, time_limit=PROOF_SECONDS)
    return {"gap": max(ours["objective"] - proof.lower_bound, 0.0) / ours["objective"]}


def squared(vector: Array) -> float:
    return float(vector @ vector)


@dataclass(frozen=True)
class Rates:
    """The experiment on error rates: data of the logistic model with independent Gaussian features."""

    name: str = "rates"
    title: str = "Error bounds: squared error against n, p/k and k"
    serial: bool = False

    def sweeps(self, quick: bool) -> tuple[Sweep, ...]:
        """Return the sweeps over n, p and k."""
        return QUICK_SWEEPS if quick else SWEEPS

    def tasks(self, scale: Scale) -> list[Task]:
        """Return all tasks, repetition by repetition."""
        repetitions = range(scale.repeats(REPETITIONS, QUICK_REPETITIONS))
        return [task for repetition in repetitions for sweep in self.sweeps(scale.quick) for task in sweep.tasks(repetition)]

    def run(self, task: Task) -> Record:
        """Run one estimator on one draw."""
        setting = Setting(task["n"], task["p"], task["k"], task["signal"])
        X, y, direction = setting.draw(task["repetition"])
        method, loss = task["method"], "hinge" if task["method"] == HINGE else "logistic"
        truth = population_norm(loss, setting.signal) * direction
        if method == L1:
            return fit_l1(X, y, truth)
        return prove(X, y, truth) if method == PROOF else fit_l0(X, y, truth, loss)

    def report(self, records: list[Record], folder: Path, scale: Scale) -> str:
        """Return tables, slopes and verdicts of the three sweeps, and draw the picture."""
        results = [Results.of(sweep, records) for sweep in self.sweeps(scale.quick)]
        picture = f"{scale.label(self.name)}.png"
        draw(results, folder / picture)
        parts = [introduction(results, scale.quick), f"![{self.title}]({picture})"]
        parts += [part for result in results for part in result.section()]
        return "\n\n".join([*parts, *optimality(records)])


RATES: Experiment = Rates()
