"""The paper's formulation, solved by every MIP solver, against enumeration."""

from itertools import combinations

import numpy as np
import pytest
from support.oracle import Model, best_subset
from support.problems import LOSSES, random_problem, store, target

from ellzero.exact.mip.backends import BACKENDS, get_backend
from ellzero.exact.mip.formulation import formulate
from ellzero.exact.mip.outer_approximation import solve_program
from ellzero.exact.options import SwapNeighbourhood
from ellzero.problem.making import make_problem

N, P, BIG = 20, 5, 2.0
CASES = {
    "l0": ({}, 0.05, None),
    "l0l1": ({"lambda_1": 0.02}, 0.03, None),
    "l0l2": ({"lambda_2": 0.03}, 0.03, None),
    "k": ({"lambda_1": 0.01, "lambda_2": 0.02}, 0.0, 2),
    "k_and_l0": ({"lambda_2": 0.02}, 0.02, 3),
    "bounds": ({"lower": -0.3, "upper": 0.6, "lambda_2": 0.01}, 0.02, None),
    "nonnegative": ({"lower": 0.0, "lambda_1": 0.01}, 0.02, None),
    "unpenalized": ({"unpenalized": [1, 3], "lambda_2": 0.02}, 0.04, None),
    "weights": ({"sample_weight": True, "lambda_2": 0.02}, 0.03, None),
    "standardized": ({"standardize": True, "lambda_2": 0.02, "lambda_1": 0.01}, 0.03, None),
    "sparse": ({"storage": "csc32", "lambda_2": 0.02}, 0.03, None),
    "no_intercept": ({"fit_intercept": False, "lambda_1": 0.02}, 0.03, None),
}


def draw(seed, loss, n=N, p=P, **options):
    """The problem, the penalised scale of its columns, and what the oracle needs to know."""
    X, y, weight = random_problem(seed, n, p, density=0.7)
    y = target(y, loss)
    known = {"loss": loss, **options}
    storage = known.pop("storage", "f64")
    if known.pop("sample_weight", False):
        weight[:3] = 0.0
        known["sample_weight"] = weight
    problem = make_problem(store(X, storage), y, **known)
    known["weights"] = known.pop("sample_weight", None)
    seen = X / problem.spread if known.pop("standardize", False) else X
    return problem, seen, problem.y[:, 0], known


def solve(backend, problem, start=False, gap=1e-5, **options):
    low, high = np.maximum(problem.penalty.lower, -BIG), np.minimum(problem.penalty.upper, BIG)
    made = formulate(problem, low=low, high=high, **options)
    begin = made.point(np.array([0], dtype=np.int32), np.array([0.1]), 0.2 * problem.fit_intercept) if start else None
    if start:
        assert made.program.violation(begin) <= 1e-12
        support, beta, intercept = made.solution(begin)
        assert objective(problem, support, beta, intercept, options["lambda_0"]) == pytest.approx(made.program.value(begin))
    found = solve_program(get_backend(backend), made.program, start=begin, gap=gap, seconds=60.0)
    assert found.status == "optimal", found.message
    assert made.program.violation(found.x) <= 1e-7
    return made, found


def objective(problem, support, beta, intercept, lambda_0):
    """The referee's value; a switch that is on pays even if its coefficient is zero."""
    coef = beta / problem.spread[support]
    idle = problem.penalty.counted(support[beta == 0.0])
    return problem.objective(support, coef[:, None], intercept, lambda_0) + lambda_0 * idle


# Two cases with every loss and solver; in the others the solvers take turns.
TURNS = [
    (case, loss, backend)
    for i, case in enumerate(CASES)
    for j, loss in enumerate(LOSSES)
    for turn, backend in enumerate(BACKENDS)
    if case in ("l0l2", "k") or (i + j) % len(BACKENDS) == turn
]


@pytest.mark.parametrize(("case", "loss", "backend"), TURNS)
def test_the_best_subset(case, loss, backend):
    options, lambda_0, k = CASES[case]
    seed = list(CASES).index(case)
    problem, X, y, known = draw(seed, loss, **options)
    best = best_subset(X, y, lambda_0=lambda_0, k=k, bound=BIG, **known)[0]
    if known.get("unpenalized"):  # the oracle's bound is not theirs
        known |= {"lower": -BIG, "upper": BIG}
        best = best_subset(X, y, lambda_0=lambda_0, k=k, **known)[0]
    made, found = solve(backend, problem, start=seed % 2 == 0, lambda_0=lambda_0, k=k)
    support, beta, intercept = made.solution(found.x)
    assert objective(problem, support, beta, intercept, lambda_0) == pytest.approx(best, abs=1e-5)
    assert found.lower_bound <= best + 1e-6
    assert found.lower_bound >= best - 1e-5
    if k is not None:
        assert len(support) <= k


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("seed", "loss", "swap_size"), [(0, "hinge", 1), (1, "squared_hinge", 2), (2, "logistic", 1), (3, "squared_error", 2)]
)
def test_swaps_against_enumeration(seed, loss, swap_size, backend):
    problem, X, y, known = draw(seed, loss, p=6, lambda_2=0.02, lambda_1=0.005)
    home, lambda_0 = np.array([3, 4, 5]), 0.01
    model = Model(X, y, bound=BIG, **known)
    near = [
        frozenset(support)
        for size in range(7)
        for support in combinations(range(6), size)
        if len(set(home) - set(support)) <= swap_size and len(set(support) - set(home)) <= swap_size
    ]
    best = min(model.fit(support).value + lambda_0 * len(support) for support in near)
    made, found = solve(backend, problem, lambda_0=lambda_0, swaps=SwapNeighbourhood(home, swap_size))
    assert made.program.value(found.x) == pytest.approx(best, abs=1e-5)
    assert found.lower_bound <= best + 1e-6
    assert frozenset(made.solution(found.x)[0].tolist()) in near


def test_a_large_formulation_is_built_quickly():
    """No loop over entries: a dense 1000 x 2000 problem in a few seconds, with only its nonzeros."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 2000)).astype(np.float32)
    problem = make_problem(X, np.where(X[:, 0] > 0.0, 1, -1), loss="logistic", lambda_2=0.1, standardize=True)
    made = formulate(problem, lambda_0=0.1, k=5, low=np.full(2000, -1.0), high=np.full(2000, 1.0))
    assert made.program.rows.nnz == 1000 * 2002 + 4 * 2000 + 2000
    point = made.point(np.array([3], dtype=np.int32), np.array([0.5]), 0.1)
    assert made.program.violation(point) <= 1e-12
    assert made.program.value(point) == pytest.approx(
        problem.objective(np.array([3], dtype=np.int32), 0.5 / problem.spread[[3], None], 0.1, 0.1)
    )
