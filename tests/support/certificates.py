"""Certificates of several kinds, their parts, and what the verifier says of parts that were changed."""

import types

import numpy as np

import ellzero as ez
from ellzero.exact.verifier import digest
from support.problems import random_problem, target

X, RESPONSE, WEIGHT = random_problem(7, n=60, p=20, density=0.8)
Y = target(RESPONSE, "logistic")
PLAIN = {"loss": "logistic", "lambda_0": 0.01, "k": 4, "lambda_2": 0.01, "gap": 1e-5, "n_jobs": 1}
REACH = np.where(np.arange(20) < 8, np.inf, 1.0)  # all columns together would separate the classes
COST = np.where(np.arange(20) == 5, 0.0, 0.5 + np.arange(20) % 4)  # feature 5 costs nothing
LABELS = [f"g{j % 7}" if j < 16 else None for j in range(20)]  # interleaved groups of two and three columns, and four alone
GROUP_COST = {"g0": 2.0, "g1": 0.5, "g3": 1.5, "g5": 0.0}  # other groups and columns cost one
RULES = [ez.at_most(1, [0, 3, 7]), ez.requires(5, [1, 2], how="any"), ez.at_least(1, [4, 6, 8])]
BASES = {
    "large tree": {**PLAIN, "k": None, "sample_weight": WEIGHT, "lower": -0.6, "upper": 0.6},
    "weighted box": {**PLAIN, "sample_weight": WEIGHT, "lower": -0.6, "upper": 0.6},
    "standardized": {**PLAIN, "standardize": True, "unpenalized": [2]},
    "conditional": {**PLAIN, "lambda_2": 0.0, "bound": 1.0},
    "best subset": {"loss": "squared_error", "k": 3, "gap": 1e-5, "n_jobs": 1},
    "families": {"loss": "squared_error", "k": 6, "lambda_2": 1e-4, "gap": 1e-5, "n_jobs": 1},
    "no penalty": {"loss": "logistic", "k": 2, "gap": 1e-5, "n_jobs": 1, "lower": -REACH, "upper": REACH},
    "priced": {**PLAIN, "k": None, "budget": 6.0, "feature_cost": COST},
    "grouped": {**PLAIN, "k": 2, "groups": LABELS, "standardize": True},
    "priced groups": {**PLAIN, "k": None, "budget": 3.0, "feature_cost": GROUP_COST, "groups": LABELS},
    "ruled": {**PLAIN, "k": 5, "rules": RULES},
    "truncated": {**PLAIN, "k": None, "lambda_0": 0.005, "node_limit": 5},
}
SOLVED = {}


def base(name):
    """The solution and a copy of the certificate's parts; solved once."""
    if name not in SOLVED:
        SOLVED[name] = ez.solve(X, Y, **BASES[name])
    sol = SOLVED[name]
    return sol, dict(sol.certificate.header), {key: np.array(value) for key, value in sol.certificate.arrays.items()}


def check(header, arrays, X=X, y=Y, sign=True, **options):
    """What the verifier says of these parts, with a checksum made anew or the one that is there."""
    if sign:
        header["digest"] = digest(header, arrays)
    return ez.verify(types.SimpleNamespace(header=header, arrays=arrays), X, y, **options)
