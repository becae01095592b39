"""Random problems of every kind, for the package and for the oracle alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import ellzero as ez
from support.oracle import Model, best_subset
from support.problems import LOSSES

PENALTIES = ("l0", "l0l1", "l0l2", "l0l1l2")
FORMS = ("lambda_0", "k", "both")
BOXES = ("none", "none", "nonnegative", "box", "ragged")


@dataclass
class Case:
    """One random problem: what `ez.solve` takes, and the same for the oracle, which knows no standardisation."""

    seed: int
    X: np.ndarray
    y: np.ndarray
    settings: dict
    counted: np.ndarray
    spread: np.ndarray
    centre: np.ndarray
    words: str = ""

    def for_oracle(self):
        """The data and the settings, for the oracle."""
        settings = dict(self.settings)
        settings.pop("standardize")
        settings["weights"] = settings.pop("sample_weight")
        for name in ("lower", "upper"):
            if settings[name] is not None:
                settings[name] = settings[name] * self.spread
        Z = (self.X - self.centre) / self.spread if self.settings["standardize"] else self.X
        return Z, settings

    def solve_oracle(self):
        Z, settings = self.for_oracle()
        return best_subset(Z, self.y, **settings)

    def oracle(self):
        """The oracle's fits of any features, without lambda_0."""
        Z, settings = self.for_oracle()
        return Model(Z, self.y, **{name: value for name, value in settings.items() if name not in ("lambda_0", "k")})

    def solve(self, **options):
        return ez.solve(self.X, self.y, **{"gap": 1e-9, "n_jobs": 1, **self.settings, **options})

    def value(self, coef, intercept):
        names = ("loss", "lambda_0", "lambda_1", "lambda_2", "sample_weight", "unpenalized", "standardize", "fit_intercept")
        settings = {name: self.settings[name] for name in names}
        settings["unpenalized"] = settings["unpenalized"] or None
        return ez.objective(self.X, self.y, coef, intercept, **settings)

    def limits(self):
        """Bounds of the coefficients on the scale of X, with the assumed one."""
        bound = np.inf if self.settings["bound"] is None else self.settings["bound"]
        reach = np.where(self.counted, bound, np.inf) / self.spread
        low, high = self.settings["lower"], self.settings["upper"]
        return np.maximum(-reach, -np.inf if low is None else low), np.minimum(reach, np.inf if high is None else high)


def draw(seed):
    rng = np.random.default_rng(seed)
    loss = LOSSES[seed % 4]
    penalty, form, box = PENALTIES[seed // 4 % 4], FORMS[seed // 16 % 3], BOXES[rng.integers(len(BOXES))]
    sizes, shares = ([4, 5, 6, 7, 8, 10, 12, 14], [0.2, 0.2, 0.2, 0.15, 0.15, 0.05, 0.03, 0.02])
    p = int(rng.choice(sizes, p=shares))
    n = int(rng.integers(20, 41))
    common = rng.standard_normal((n, 1)) * rng.choice([0.0, 0.0, 1.0])
    X = (rng.standard_normal((n, p)) + common) * rng.uniform(0.3, 3.0, p) + rng.standard_normal(p) * rng.choice([0.0, 1.0])
    if rng.random() < 0.3:
        X *= rng.random((n, p)) < 0.5
    beta = rng.standard_normal(p) * (rng.random(p) < 0.6) / X.std(axis=0)
    signal = (X - X.mean(axis=0)) @ beta + rng.choice([0.3, 1.0]) * rng.standard_normal(n)
    weight = None
    if rng.random() < 0.4:
        weight = rng.uniform(0.1, 2.0, n) * (rng.random(n) < 0.8)
    if loss == "squared_error":
        y = signal
    else:
        y = np.where(signal > np.median(signal), 1, -1)
        y[rng.random(n) < 0.1] *= -1
        live = y if weight is None else y[weight > 0.0]
        if len(np.unique(live)) < 2:  # both classes must have weight
            weight = None
    w = np.ones(n) if weight is None else weight
    scale = np.average((y - np.average(y, weights=w)) ** 2, weights=w) if loss == "squared_error" else 1.0
    fit_intercept, standardize = bool(rng.random() < 0.7), bool(rng.random() < 0.3)
    centre = np.average(X, axis=0, weights=w) if fit_intercept else np.zeros(p)
    spread = np.sqrt(np.average((X - centre) ** 2, axis=0, weights=w)) if standardize else np.ones(p)
    unpenalized = sorted(rng.choice(p, int(rng.integers(1, 3)), replace=False).tolist()) if rng.random() < 0.25 else []
    counted = ~np.isin(np.arange(p), unpenalized)
    lambda_0 = scale * float(np.exp(rng.uniform(np.log(0.003), np.log(0.08)))) if form != "k" else 0.0
    settings = {
        "loss": loss,
        "lambda_0": lambda_0,
        "k": int(rng.integers(1, max(2, p - 1))) if form != "lambda_0" else None,
        "lambda_1": scale * float(np.exp(rng.uniform(np.log(0.001), np.log(0.05)))) if "l1" in penalty else 0.0,
        "lambda_2": scale * float(np.exp(rng.uniform(np.log(0.001), np.log(0.05)))) if "l2" in penalty else 0.0,
        "fit_intercept": fit_intercept,
        "standardize": standardize,
        "sample_weight": weight,
        "lower": None,
        "upper": None,
        "unpenalized": unpenalized,
        "bound": None,
    }
    if box != "none":
        settings["lower"] = np.zeros(p) if box == "nonnegative" else -rng.uniform(0.05, 1.0, p)
        settings["upper"] = None if box == "nonnegative" else rng.uniform(0.05, 1.0, p)
    if box == "ragged":  # some are infinite, some zero, some equal
        settings["lower"][rng.random(p) < 0.4] = -np.inf
        settings["upper"][rng.random(p) < 0.4] = np.inf
        settings["upper"][rng.random(p) < 0.2] = 0.0
        pinned = counted & (rng.random(p) < 0.1)
        settings["lower"][pinned] = settings["upper"][pinned] = 0.0
    if penalty == "l0" and (box != "box" or rng.random() < 0.5):
        settings["bound"] = float(rng.uniform(0.2, 4.0))
    words = f"seed {seed}: {loss}, {penalty}, {form}, box {box}, n = {n}, p = {p}, intercept {fit_intercept}"
    words += f", standardize {standardize}, weights {weight is not None}, unpenalized {unpenalized}"
    return Case(seed, X, y, settings, counted, spread, centre, words)


def plain(seed, loss, n=30, p=8, **settings):
    """A problem with an intercept and nothing else, but for what is given."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(n)
    y = y if loss == "squared_error" else np.where(y > 0.0, 1, -1)
    none = {"sample_weight": None, "lower": None, "upper": None, "unpenalized": [], "bound": None, "k": None, "lambda_0": 0.0}
    rest = {"lambda_1": 0.0, "lambda_2": 0.0, "fit_intercept": True, "standardize": False}
    settings = {"loss": loss, **none, **rest, **settings}
    return Case(seed, X, y, settings, np.ones(p, dtype=bool), np.ones(p), np.zeros(p), f"seed {seed}: {loss}, {settings}")
