"""How often the intervals of `ellzero.inference` cover: simulations, also of naive intervals.

    python -m benchmarks.inference [--repetitions 500]

writes benchmarks/results/inference.md. The truth that an interval should cover is the coefficient of the best linear model of
the chosen features, found on very many rows: that model exists also where the choice missed a feature.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

import ellzero as ez
from ellzero.base.errors import InvalidInputError
from ellzero.estimators.inference import unpenalised_fit
from experiments.measurement.markdown import processor, table

RESULT = Path(__file__).resolve().parent / "results" / "inference.md"
Array = NDArray[np.float64]
MANY = 100_000


class Setting(NamedTuple):
    """Data to draw: rows, columns, the correlation of neighbours, the coefficients, and the loss."""

    title: str
    n: int
    p: int
    rho: float
    beta: tuple[float, ...]
    loss: str
    k: int


SETTINGS = (
    Setting("logistic, strong signals", 600, 50, 0.0, (1.5, -1.5, 1.0), "logistic", 3),
    Setting("logistic, weak signals of correlated columns", 600, 50, 0.6, (0.5, 0.4, -0.3, 0.3, 0.2), "logistic", 3),
    Setting("linear, noise grows with a column", 200, 50, 0.3, (1.0, -0.8, 0.5, 0.3), "squared_error", 3),
    Setting("linear, nothing but noise", 200, 100, 0.0, (), "squared_error", 3),
)
TEXT = """# Intervals after selection

`ez.inference` chooses features on half of the rows, and measures them on the other half. The table says how often its 95 %
intervals cover the coefficient of the best linear model of the chosen features (found on {many:,} rows), over {repetitions}
data sets for each setting, all chosen features counted. "Naive" are the intervals that a textbook gives when the same rows
choose the features and measure them. In the second and third setting the choice often misses features that matter, so that
no chosen model is the true one; the noise of the third depends on a column. In the fourth all truths are zero, but for chance.

`make bench-inference` on {date}, ellzero {version}, {processor}; it took {seconds:.0f} s.

{table}
"""


def draw(setting: Setting, n: int, seed: int) -> tuple[Array, Array]:
    """Return X and y of n rows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, setting.p))
    for j in range(1, setting.p):
        X[:, j] = setting.rho * X[:, j - 1] + np.sqrt(1.0 - setting.rho**2) * X[:, j]
    beta = np.zeros(setting.p)
    beta[: 3 * len(setting.beta) : 3] = setting.beta
    eta = X @ beta
    if setting.loss == "logistic":
        return X, np.where(rng.random(n) < expit(eta), 1.0, -1.0)
    return X, eta + rng.standard_normal(n) * (0.5 + np.abs(X[:, 0]))


def truths(setting: Setting) -> Callable[[NDArray[np.int64]], Array]:
    """Return a function that knows the coefficients of the best linear model of some features."""
    X, y = draw(setting, MANY, seed=10**6)
    known: dict[bytes, Array] = {}

    def truth(support: NDArray[np.int64]) -> Array:
        key = support.tobytes()
        if key not in known:
            known[key] = unpenalised_fit(X[:, support], y, setting.loss == "logistic", [])[0]
        return known[key]

    return truth


def naive(setting: Setting, X: Array, y: Array) -> tuple[NDArray[np.int64], Array]:
    """Return the features that all rows choose, and the intervals that the same rows give."""
    kind = ez.L0Classifier if setting.loss == "logistic" else ez.L0Regressor
    support = kind(k=setting.k).fit(X, y).support_
    coef, _, covariance = unpenalised_fit(X[:, support], y, setting.loss == "logistic", [])
    half = norm.ppf(0.975) * np.sqrt(np.diag(covariance)[:-1])
    return support, np.column_stack([coef - half, coef + half])


def simulate(setting: Setting, repetitions: int) -> list[str]:
    """Return a row of the table."""
    truth = truths(setting)
    counts = {"split": [0, 0], "naive": [0, 0]}
    exact = 0
    true = {3 * j for j in range(len(setting.beta))}
    for seed in range(repetitions):
        X, y = draw(setting, setting.n, seed)
        try:
            found = ez.inference(X, y, k=setting.k, loss=setting.loss, random_state=seed)
            pairs = {"split": (found.support, found.interval), "naive": naive(setting, X, y)}
        except InvalidInputError:  # the classes were told apart
            continue
        exact += set(found.support.tolist()) <= true
        for name, (support, interval) in pairs.items():
            inside = (interval[:, 0] <= truth(support)) & (truth(support) <= interval[:, 1])
            counts[name][0] += int(inside.sum())
            counts[name][1] += len(inside)
    shares = [f"{100.0 * covered / total:.1f} %" for covered, total in counts.values()]
    error = 100.0 * np.sqrt(0.95 * 0.05 / counts["split"][1])
    size = f"n = {setting.n}, p = {setting.p}, k = {setting.k}"
    return [setting.title, size, shares[0], shares[1], f"{error:.1f} %", f"{exact} of {repetitions}"]


def main() -> int:
    """Simulate all settings and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=500)
    repetitions = parser.parse_args().repetitions
    warnings.simplefilter("ignore")
    begin = time.monotonic()
    rows = [simulate(setting, repetitions) for setting in SETTINGS]
    header = ["setting", "", "covered", "naive", "one standard error", "only useful features chosen"]
    text = TEXT.format(
        many=MANY,
        repetitions=repetitions,
        date=datetime.date.today().isoformat(),
        version=ez.__version__,
        processor=processor(),
        seconds=time.monotonic() - begin,
        table=table(header, rows),
    )
    RESULT.write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
