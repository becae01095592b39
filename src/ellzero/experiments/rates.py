"""The estimation-error theorem seen in practice: squared error against n, p/k and k, with the L1 estimator beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ellzero.datasets import make_classification
from ellzero.exact.solve import solve
from ellzero.experiments.experiment import Experiment, Record, Scale, Task
from ellzero.paths.fitting import fit_path
from ellzero.paths.sizes import fit_sizes

__all__ = ["RATES", "Rates", "Setting", "Sweep", "fewest_rows", "most_rows", "population_norm"]

Array = NDArray[np.float64]
REPETITIONS = 20
QUICK_REPETITIONS = 12
STREAM = 9  # of the seeds: this experiment's own
L0, HINGE, L1, KNOWN, PROOF = "L0", "L0 (hinge loss)", "L1", "L0 (support known)", "proof"
LAMBDA_STEP = 0.8  # between two points of the L1 path: the best of them is within 1 or 2 % of the best of all
RISEN = 1.05  # the L1 path ends where its error is this multiple of its least: from there on it grows
PATH_LENGTH = 30  # down to 0.1 % of the first lambda_1: with few features to choose from the error may fall all the way
PROOF_SECONDS = 60.0


@dataclass(frozen=True)
class Setting:
    """Rows, features, features that matter, and the length of the generating coefficients."""

    n: int
    p: int
    k: int
    signal: float

    def draw(self, repetition: int) -> tuple[Array, NDArray[np.int64], Array]:
        """X, y and the direction of the true coefficients: all methods see the same data."""
        entropy = [STREAM, self.n, self.p, self.k, round(1000 * self.signal), repetition]
        rng = np.random.default_rng(np.random.SeedSequence(entropy))
        X, y, coef = make_classification(self.n, self.p, self.k, s=self.signal / np.sqrt(self.k), random_state=rng)
        return X, y, coef / np.sqrt(self.k)

    def rate(self, radius: float) -> float:
        """The theorem's k log(Rp/k) / n, without its constant."""
        return self.k * float(np.log(radius * self.p / self.k)) / self.n


@dataclass(frozen=True)
class Sweep:
    """One of n, p and k varies."""

    varies: str
    values: tuple[int, ...]
    fixed: Setting
    signals: tuple[float, ...] = (2.0,)
    hinge: tuple[int, ...] = ()  # values at which the hinge is fitted too
    proofs: tuple[int, ...] = ()  # values at which the estimates are proved optimal, for the strong signal

    def at(self, value: int, signal: float) -> Setting:
        """The setting at a point of the sweep."""
        return replace(self.fixed, signal=signal, **{self.varies: value})

    def tasks(self, repetition: int) -> Iterable[Task]:
        """All methods at all points, once."""
        for signal in self.signals:
            for value in self.values:
                strong = signal == max(self.signals)
                methods = [L0, L1] + [HINGE] * (value in self.hinge) + [PROOF] * (value in self.proofs and strong)
                for method in methods:
                    yield {"sweep": self.varies} | asdict(self.at(value, signal)) | {"repetition": repetition, "method": method}


STRONG = Setting(n=500, p=1000, k=5, signal=2.0)
SWEEPS = (
    Sweep("n", tuple(125 * 2**i for i in range(8)), STRONG, hinge=tuple(250 * 2**i for i in range(5))),
    Sweep("p", (20, 100, 500, 2500, 20_000), STRONG, signals=(2.0, 1.0), proofs=(20, 100)),
    Sweep("k", (1, 2, 4, 8, 16, 32), replace(STRONG, n=2000)),
)
QUICK_SWEEPS = (
    Sweep("n", (250, 500, 1000, 2000, 4000), replace(STRONG, p=50), hinge=(250, 500)),
    Sweep("p", (20, 100, 500), STRONG, signals=(2.0, 1.0), proofs=(20,)),
    Sweep("k", (1, 3, 9), replace(STRONG, p=100)),
)


def population_norm(loss: str, signal: float) -> float:
    """||beta*||_2 of the minimiser of the population risk, whose direction is that of the generating coefficients.

    Labels depend on x through its part z along the generating coefficients only. The rest of x is independent of z and has mean
    zero: by Jensen's inequality it cannot lower the risk. What is left is one number c, the minimiser of E f(c z, y) with
    P(y = 1 | z) = 1 / (1 + exp(-signal z)): for the logistic loss it is the signal itself. For the hinge the derivative
    -E [u; c u < 1] vanishes, where u = y z has the density 2 phi(u) / (1 + exp(-signal u)).
    """
    if loss == "logistic":
        return signal
    from scipy.integrate import quad
    from scipy.optimize import brentq
    from scipy.special import expit

    def density(u: float) -> float:
        return float(u * np.exp(-0.5 * u * u) * expit(signal * u))

    return float(brentq(lambda c: quad(density, -40.0, 1.0 / c, epsabs=1e-13, limit=200)[0], 1e-2, 1e3, xtol=1e-12))


def fewest_rows(k: int, p: int, radius: float) -> float:
    """How many rows Assumption 5 needs at the very least: 18 pi (k log(Rp/k) + log 2).

    It asks for 24 L / kappa sqrt(lambda / n (k log(Rp/k) + log(1/delta))) < r with delta < 1/2. Here L = 1 and lambda >= 1.
    The risk of a loss of slope at most 1 grows by no more than E |x.z| = sqrt(2/pi) ||z||, so kappa r^2 / 4 <= sqrt(2/pi) r
    bounds r, and kappa cancels.
    """
    return float(18.0 * np.pi * (k * np.log(radius * p / k) + np.log(2.0)))


def most_rows(k: int, p: int) -> float:
    """How many rows Assumption 5's last condition, 7 n e <= 3 L sqrt(lambda) p log(p/k), allows for lambda = 1."""
    return float(3.0 * p * np.log(p / k) / (7.0 * np.e))


def fit_l0(X: Array, y: NDArray[np.int64], truth: Array, loss: str) -> Record:
    """The theorem's estimator, with k and R known to it, beside the same on the true support."""
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
    """The point of the L1 path that is nearest to the truth: no choice of lambda_1 from data can do better."""
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
    """How far the estimate is from the optimum at most.

    The ball ||beta||_2 <= 2R lies in the box |beta_j| <= 2R, so what is proved of the box is a lower bound for the ball too.
    """
    ours = fit_l0(X, y, truth, "logistic")
    k, box = int(np.count_nonzero(truth)), 2.0 * float(np.linalg.norm(truth))
    proof = solve(X, y, loss="logistic", k=k, bound=box, fit_intercept=False, n_jobs=1, time_limit=PROOF_SECONDS)
    return {"gap": max(ours["objective"] - proof.lower_bound, 0.0) / ours["objective"]}


def squared(vector: Array) -> float:
    return float(vector @ vector)


@dataclass(frozen=True)
class Rates:
    """The theorem's estimator on data of the logistic model with independent Gaussian features."""

    name: str = "rates"
    title: str = "Error bounds: squared error against n, p/k and k"
    serial: bool = False

    def sweeps(self, quick: bool) -> tuple[Sweep, ...]:
        """What is varied."""
        return QUICK_SWEEPS if quick else SWEEPS

    def tasks(self, scale: Scale) -> list[Task]:
        """Repetition by repetition."""
        repetitions = range(scale.repeats(REPETITIONS, QUICK_REPETITIONS))
        return [task for repetition in repetitions for sweep in self.sweeps(scale.quick) for task in sweep.tasks(repetition)]

    def run(self, task: Task) -> Record:
        """One estimator on one draw."""
        setting = Setting(task["n"], task["p"], task["k"], task["signal"])
        X, y, direction = setting.draw(task["repetition"])
        method, loss = task["method"], "hinge" if task["method"] == HINGE else "logistic"
        truth = population_norm(loss, setting.signal) * direction
        if method == L1:
            return fit_l1(X, y, truth)
        return prove(X, y, truth) if method == PROOF else fit_l0(X, y, truth, loss)

    def report(self, records: list[Record], folder: Path, scale: Scale) -> str:
        """Tables, slopes and verdicts of the three sweeps, and the picture."""
        from ellzero.experiments.rates_report import Results, draw, introduction, optimality

        results = [Results.of(sweep, records) for sweep in self.sweeps(scale.quick)]
        picture = f"{scale.label(self.name)}.png"
        draw(results, folder / picture)
        parts = [introduction(results, scale.quick), f"![{self.title}]({picture})"]
        parts += [part for result in results for part in result.section()]
        return "\n\n".join([*parts, *optimality(records)])


RATES: Experiment = Rates()
