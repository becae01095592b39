"""Small problems whose every support is fitted by the oracle, so that all models up to a threshold are known."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from support.oracle import Model as Oracle
from support.problems import LOSSES

EQUAL = 1e-8  # as ellzero has it: objectives that differ by less, relatively, count as equal
UNSURE = 3e-8  # the oracle is not precise enough to tell what is so close to a border


class Case(NamedTuple):
    """A problem, its settings, and what is asked for."""

    seed: int
    X: np.ndarray
    y: np.ndarray
    settings: dict[str, Any]  # with lambda_0 or k
    within: float


def draw(seed: int) -> Case:
    """A random problem: all losses, both forms, weights, bounds, unpenalized features, copies of columns."""
    rng = np.random.default_rng(seed)
    loss = LOSSES[seed % 4]
    n, p = int(rng.integers(15, 40)), int(rng.integers(4, 9))
    X = rng.standard_normal((n, p)) * rng.choice([1.0, 0.3, 5.0], p)
    if rng.random() < 0.3:
        X[:, rng.integers(p)] = X[:, rng.integers(p)]
    if rng.random() < 0.3:
        X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(n)
    if rng.random() < 0.1:
        X[:, 2] = 1.0
    signal = X @ (rng.standard_normal(p) * (rng.random(p) < 0.6) / X.std(axis=0).clip(0.1)) + rng.standard_normal(n)
    y = signal if loss == "squared_error" else np.where(signal > np.median(signal), 1, -1)
    settings: dict[str, Any] = {"loss": loss, "fit_intercept": bool(rng.random() < 0.7)}
    settings["lambda_2"] = float(rng.choice([0.0, 0.003, 0.03, 0.1], p=[0.2, 0.3, 0.3, 0.2]))
    settings["lambda_1"] = float(rng.choice([0.0, 0.01, 0.05], p=[0.6, 0.2, 0.2]))
    boxed = rng.random()
    if boxed < 0.2:
        settings["lower"] = 0.0
    elif boxed < 0.4:
        settings["lower"], settings["upper"] = -0.3, 0.4
    if settings["lambda_1"] == settings["lambda_2"] == 0.0 and loss != "squared_error":
        settings["lower"], settings["upper"] = -0.8, 0.7
    elif settings["lambda_1"] == settings["lambda_2"] == 0.0 and len({tuple(column) for column in X.T}) < p:
        settings["lambda_2"] = 1e-3  # copies of columns make no problem of least squares
    if rng.random() < 0.3:
        settings["sample_weight"] = rng.uniform(0.2, 2.0, n) * (rng.random(n) < 0.9)
    if rng.random() < 0.3 and settings["lambda_1"] + settings["lambda_2"] > 0.0:
        settings["unpenalized"] = [p - 1]
    if seed // 4 % 2:
        settings["k"] = int(rng.integers(1, min(p, 4) + 1))
    else:
        settings["lambda_0"] = float(rng.choice([0.01, 0.03, 0.1]))
    within = float(rng.choice([0.0, 0.001, 0.01, 0.05, 0.2]))
    if seed % 3 == 0:  # prices, and in place of k a budget
        settings["feature_cost"] = rng.choice([0.5, 1.0, 1.7, 3.0], p)
        if "k" in settings:
            settings["budget"] = max(1.5 * settings.pop("k"), float(settings["feature_cost"].max()))
    return Case(seed, X, y, settings, within)


def enumerated(case: Case) -> tuple[set[frozenset[int]], set[frozenset[int]]]:
    """The supports of all models that are wanted, and those of which it is not sure whether they are."""
    settings, p = case.settings, case.X.shape[1]
    oracle, free = oracle_of(case), settings.get("unpenalized", ())
    features = [j for j in range(p) if j not in free]
    sizes = range(min(settings.get("k", p), len(features)) + 1)
    every = [frozenset(chosen) for size in sizes for chosen in combinations(features, size)]
    spent = {support: sum(price_of(case, j) for j in support) for support in every}
    affordable = [support for support in every if spent[support] <= settings.get("budget", np.inf) + 1e-9]
    cost = {support: oracle.fit(support).value for support in affordable}
    value = {support: cost[support] + settings.get("lambda_0", 0.0) * spent[support] for support in cost}
    best = min(value.values())
    threshold = best * (1.0 + case.within + EQUAL)
    least_gain = {support: min((cost[support - {j}] - cost[support] for j in support), default=np.inf) for support in cost}
    wanted = {each for each in cost if value[each] <= threshold and least_gain[each] > EQUAL * best}
    near = {each for each in cost if abs(value[each] - threshold) < UNSURE * best and each not in wanted}
    near |= {each for each in cost if case.within > 0.0 and abs(value[each] - threshold) < UNSURE * best}
    near |= {each for each in cost if abs(least_gain[each] - EQUAL * best) < 0.9 * EQUAL * best}
    return wanted, near


def price_of(case: Case, feature: int) -> float:
    """The price of a feature."""
    return float(case.settings["feature_cost"][feature]) if "feature_cost" in case.settings else 1.0


ORACLES: dict[int, Oracle] = {}  # which remember their fits


def oracle_of(case: Case) -> Oracle:
    """The problem as the oracle sees it."""
    if case.seed not in ORACLES:
        ORACLES[case.seed] = make_oracle(case)
    return ORACLES[case.seed]


def make_oracle(case: Case) -> Oracle:
    settings, p = case.settings, case.X.shape[1]
    sides = {side: np.full(p, settings[side]) for side in ("lower", "upper") if side in settings}
    names = ("loss", "lambda_1", "lambda_2", "fit_intercept")
    numbers = (settings[name] for name in names)
    free = settings.get("unpenalized", ())
    return Oracle(case.X, case.y, *numbers, settings.get("sample_weight"), unpenalized=free, **sides)


def oracle_values(case: Case, supports: set[frozenset[int]], price: float) -> list[float]:
    """The objectives of some supports."""
    oracle = oracle_of(case)
    return [oracle.fit(support).value + price * sum(price_of(case, j) for j in support) for support in supports]


def supports_of(found: Any, case: Case) -> list[frozenset[int]]:
    """The counted features of the models that were found."""
    return [frozenset(model.support.tolist()) - set(case.settings.get("unpenalized", ())) for model in found.models]
