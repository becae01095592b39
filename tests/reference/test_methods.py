"""Every exact method and backend against enumeration, against each other, and against the optimum at every step of the way."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy import sparse
from support.cases import draw
from support.oracle import best_subset
from support.problems import LOSSES

import ellzero as ez
from ellzero.exact.incumbent import null_model
from ellzero.exact.mip.generation import Decisions, Master
from ellzero.exact.options import SearchOptions
from ellzero.exact.search import search_for
from ellzero.problem.making import make_problem

METHODS = [
    ("bnb", "builtin"),
    ("iga", "builtin"),
    ("iga", "highs"),
    ("iga", "scip"),
    ("iga", "gurobi"),
    ("mip", "highs"),
    ("mip", "scip"),
    ("mip", "gurobi"),
]
GAP = 1e-6


def check_history(solution, optimum, where):
    """The optimum is always between bound and objective, which come together; IGA's set and its iterations only grow."""
    assert solution.history, where
    for row in solution.history:
        assert row.lower_bound <= optimum * (1.0 + 1e-7) + 1e-12, where
        assert row.objective >= optimum * (1.0 - 1e-7) - 1e-12, where
        assert row.gap == pytest.approx((row.objective - row.lower_bound) / max(row.objective, 1e-300), abs=1e-12), where
    for before, after in pairwise(solution.history):
        # A bound never exceeds the objective, which may fall below one that was good to the solver's tolerance only.
        assert after.lower_bound >= min(before.lower_bound, after.objective) * (1.0 - 1e-12), where
        assert after.objective <= before.objective, where
        assert after.iteration >= before.iteration, where
        assert after.integral >= before.integral, where
        assert after.seconds >= before.seconds, where
    last = solution.history[-1]
    assert last.objective == pytest.approx(solution.objective, rel=1e-9), where
    assert last.lower_bound <= solution.lower_bound + 1e-9 * solution.objective, where


def check_proof(solution, X, y, where):
    """The built-in solver's bound is proved; that of another solver is its word, and the root's is proved."""
    report = ez.verify(solution.certificate, X, y)
    assert report.objective == pytest.approx(solution.objective, rel=1e-12), where
    assert report.lower_bound <= solution.objective * (1.0 + 1e-9), where
    if solution.prover is None:
        assert report.valid, f"{where}: {report.reasons}"
        assert report.lower_bound >= solution.lower_bound - 1e-9 * solution.objective, where
    else:
        assert not report.valid, where
        assert any(solution.prover in reason for reason in report.reasons), f"{where}: {report.reasons}"
        assert 0.0 <= report.lower_bound < solution.lower_bound, where
    return report


def check(case, method, backend, truth, gap=GAP, **options):
    solution = case.solve(method=method, backend=backend, gap=gap, time_limit=60.0, **options)
    where = f"{case.words}, {method} by {backend}: {solution.objective!r} against {truth!r}, {solution.status}"
    assert solution.status == "optimal", f"{where}: {solution.message}"
    assert solution.objective == pytest.approx(truth, rel=1e-5, abs=1e-10), where
    assert solution.lower_bound <= truth * (1.0 + 1e-7) + 1e-12, where
    assert 0.0 <= solution.gap <= gap, where
    assert case.value(solution.coef, solution.intercept) == pytest.approx(solution.objective, rel=1e-12), where
    k = case.settings["k"]
    assert k is None or np.count_nonzero(solution.coef[case.counted]) <= k, where
    low, high = case.limits()
    assert (solution.coef >= low - 1e-12 * np.abs(low)).all(), where
    assert (solution.coef <= high + 1e-12 * np.abs(high)).all(), where
    assert backend != "builtin" or solution.prover is None, where
    assert solution.prover is None or backend in solution.prover.lower(), where
    check_history(solution, truth, where)
    check_proof(solution, case.X, case.y, where)
    return solution


# Against enumeration --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(50_000, 50_048))
def test_truth(seed):
    """All losses, penalties and forms, with every kind of bounds, weights and scales; every method."""
    case = draw(seed)
    while len(case.counted) > 10:
        seed += 1000
        case = draw(seed)
    truth = case.solve_oracle()[0]
    p = len(case.counted)
    for number, (method, backend) in enumerate(METHODS):
        if backend != "builtin" and (number + seed) % 3:  # other solvers take turns
            continue
        if method != "mip" or (p <= 8 and backend != "scip"):
            check(case, method, backend, truth)
        elif p <= 6:  # SCIP takes seconds for a formulation that others solve at once
            check(case, method, backend, truth, gap=1e-4)


@pytest.mark.parametrize("seed", range(50_100, 50_112))
def test_bounds_that_are_assumed(seed):
    """The best under |beta_j| <= bound, and the certificate says so; a bound by heuristic holds what was found."""
    case = draw(seed)
    while case.settings["unpenalized"] or len(case.counted) > 8:
        seed += 1000
        case = draw(seed)
    for bound in (0.15, "heuristic"):
        for method, backend in METHODS[:4]:
            case.settings["bound"] = bound
            solution = case.solve(method=method, backend=backend, gap=GAP)
            where = f"{case.words}, {method} by {backend}, bound {bound}"
            case.settings["bound"] = solution.bound
            assert solution.certificate.conditional, where
            assert solution.bound == bound or np.abs(solution.coef * case.spread).max(initial=0.0) <= solution.bound, where
            truth = case.solve_oracle()[0]
            assert solution.objective == pytest.approx(truth, rel=1e-5), where
            assert solution.lower_bound <= truth * (1.0 + 1e-7), where
            assert check_proof(solution, case.X, case.y, where).conditional, where


@pytest.mark.parametrize("seed", range(50_200, 50_208))
def test_sparse_columns_are_the_same_problem(seed):
    case = draw(seed)
    case.X[np.abs(case.X) < 0.5] = 0.0
    same = draw(seed)
    same.X = sparse.csc_matrix(case.X)
    for method, backend in METHODS:
        if (method, backend) == ("mip", "scip"):
            continue
        dense, thin = (one.solve(method=method, backend=backend, gap=GAP) for one in (case, same))
        where = f"{case.words}, {method} by {backend}"
        assert thin.status == dense.status == "optimal", where
        assert thin.objective == pytest.approx(dense.objective, rel=2 * GAP), where
        assert max(thin.lower_bound, dense.lower_bound) <= min(thin.objective, dense.objective) * (1.0 + 1e-7), where
        check_proof(thin, same.X, same.y, where)


@pytest.mark.parametrize(("method", "backend"), METHODS)
@pytest.mark.parametrize("settings", [{"k": 0}, {"k": 50}, {"lambda_0": 1e3}, {"lambda_0": 0.0}, {"unpenalized": range(6)}])
def test_the_ends(method, backend, settings):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((25, 6))
    y = np.where(X[:, 0] - X[:, 1] + rng.standard_normal(25) > 0.0, 1, -1)
    settings = {"lambda_0": 0.01, "lambda_2": 0.02, "gap": 1e-5, **settings}
    expected = ez.solve(X, y, **settings)
    solution = ez.solve(X, y, method=method, backend=backend, **settings)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(expected.objective, rel=2e-5)
    assert solution.lower_bound <= expected.objective
    check_proof(solution, X, y, f"{method} by {backend}")


@pytest.mark.parametrize(("method", "backend"), METHODS)
def test_boxes_that_just_hold_the_best(method, backend):
    """Of the objective, all but the price of the feature is lambda_2 beta^2, nearly: no box can be smaller."""
    X = np.array([[1.0, 0.3], [-1.0, 0.4], [1.0, -0.2], [-1.0, -0.3]])
    settings = {"loss": "squared_hinge", "lambda_0": 2e-4, "lambda_2": 1e-3, "fit_intercept": False}
    truth = best_subset(X, X[:, 0], **settings)[0]
    solution = ez.solve(X, X[:, 0], method=method, backend=backend, gap=GAP, **settings)
    assert solution.status == "optimal", solution.message
    assert solution.objective == pytest.approx(truth, rel=1e-5)
    assert solution.lower_bound <= truth * (1.0 + 1e-7)
    if backend != "builtin":
        options = SearchOptions(lambda_0=settings.pop("lambda_0"), k=None, method=method, backend=backend)
        search = search_for(make_problem(X, X[:, 0], **settings), options)
        search.call_solver = lambda: None
        search.explore()
        assert solution.coef[0] <= search.high[0] <= 1.01 * solution.coef[0]
        assert search.low[0] == -search.high[0]


# IGA's masters --------------------------------------------------------------------------------------------------------


def check_cuts(seed):
    """How often a master said much of a pattern, that is more than half of what it costs."""
    case = draw(seed)
    while len(case.counted) > 6 or case.settings["k"] == 0:
        seed += 1000
        case = draw(seed)
    oracle = case.oracle()
    models = {
        support: oracle.fit(support).value + case.settings["lambda_0"] * len(support)
        for size in range(min(case.settings["k"] or 6, len(oracle.counted)) + 1)
        for support in map(frozenset, combinations(sorted(oracle.counted), size))
    }
    names = ("loss", "lambda_1", "lambda_2", "fit_intercept", "standardize", "sample_weight", "lower", "upper")
    settings = {name: case.settings[name] for name in names}
    problem = make_problem(case.X, case.y, unpenalized=case.settings["unpenalized"] or None, **settings)
    options = SearchOptions(
        lambda_0=case.settings["lambda_0"], k=case.settings["k"], bound=case.settings["bound"], method="iga", backend="highs"
    )
    search = search_for(problem, options)
    search.call_solver = lambda: None
    search.explore()
    # As if nothing was known: boxes and exclusions are about models that are better than the incumbent.
    search.incumbent = null_model(problem, options.lambda_0)
    search.know(excluded=np.zeros(0, dtype=np.int32))
    objective, rng, told = search.objective, np.random.default_rng(seed), 0
    search.begin()
    for _ in range(8):
        search.set = sorted(rng.permutation(sorted(oracle.counted))[: rng.integers(1, len(oracle.counted) + 1)].tolist())
        inside = frozenset(rng.permutation(search.set)[: rng.integers(0, min(3, case.settings["k"] or 6) + 1)].tolist())
        outside = frozenset(rng.permutation(sorted(set(search.set) - inside))[: rng.integers(0, 3)].tolist())
        relaxed = search.duals.relax(Decisions(inside, outside), np.inf)
        if relaxed.dual is None:
            assert all(value >= objective * (1.0 - 1e-9) for T, value in models.items() if inside <= T and not outside & T), (
                case.words
            )
            continue
        search.root, search.values = relaxed, {relaxed.decisions: min(relaxed.bound, objective)}
        master = Master(search, np.inf)
        for T, value in models.items():
            z = np.isin(search.set, sorted(T)).astype(float)
            least = (master.program.row_lower - master.program.rows[:, 1:] @ z)[
                master.program.rows[:, [0]].toarray()[:, 0] == 1.0
            ]
            if value <= objective:
                assert least.max() <= value * (1.0 + 1e-7) + 1e-10, f"{case.words}, {relaxed.decisions}, {T}"
                told += least.max() > 0.5 * value
    return told


@pytest.mark.parametrize("first", range(50_300, 50_324, 6))
def test_cuts_and_values_hold(first):
    """What a master says of a pattern, by cuts from any dual point and by values, is no more than the best such model costs."""
    assert sum(check_cuts(seed) for seed in range(first, first + 6)) > 20


# Too large to enumerate -----------------------------------------------------------------------------------------------

LARGE = [(seed, LOSSES[seed % 4]) for seed in (0, 1, 6, 7, 10, 11, 12, 13)]  # every pair of loss, correlation and form


def large(seed, loss):
    """50 to 200 features, correlated; the penalties are such that some nodes are needed."""
    rng = np.random.default_rng([51, seed])
    p = int(rng.choice([50, 100, 200]))
    kind = ("exponential", "constant")[seed // 4 % 2]
    X, y, _ = ez.datasets.make_classification(120, p, 5, correlation=kind, rho=0.3, s=2.0, random_state=seed)
    if loss == "squared_error":
        y = 2.0 * X[:, :4].sum(axis=1) + 2.0 * rng.standard_normal(120)
    scale = float(np.var(y)) if loss == "squared_error" else 1.0
    form = {"lambda_0": (0.05 if "hinge" in loss else 0.02) * scale} if seed // 8 else {"k": 2}
    return X, y, {"loss": loss, "lambda_2": 0.15 * scale, "lambda_1": 0.01 * scale * (seed % 3 == 0), **form}


@pytest.mark.parametrize(("seed", "loss"), LARGE)
def test_methods_agree(seed, loss, record_property):
    X, y, settings = large(seed, loss)
    gap = 1e-4
    runs = {
        "bnb": {},
        **{f"iga, grow {grow}": {"method": "iga", "grow": grow} for grow in (1, 10, 0.3)},
        **{f"iga by {backend}": {"method": "iga", "backend": backend} for backend in ("highs", "scip", "gurobi")},
    }
    hard = "k" not in settings  # a master of many features may take its solver long
    limits = {name: 1.0 if hard and "by" in name else 60.0 for name in runs}
    found = {name: ez.solve(X, y, gap=gap, time_limit=limits[name], **settings, **run) for name, run in runs.items()}
    best, bound = min(s.objective for s in found.values()), max(s.lower_bound for s in found.values())
    for name, solution in found.items():
        where = f"seed {seed}, {loss}, {settings}, {name}: {solution.status} {solution.message}"
        assert solution.status == "optimal" or (solution.status == "time_limit" and hard and "by" in name), where
        assert solution.objective <= best * (1.0 + gap + 1e-9) or solution.status == "time_limit", where
        assert solution.lower_bound <= best * (1.0 + 1e-7), where
        assert bound <= solution.objective * (1.0 + 1e-7), where
        check_history(solution, best, where)
        check_proof(solution, X, y, where)
    if seed == 0:
        sizes = {name: solution.history[-1].integral for name, solution in found.items() if solution.history[-1].integral}
        record_property("figure", f"IGA's set at the end, of {X.shape[1]} features: {sizes}")


@pytest.mark.parametrize("backend", ["builtin", "highs"])
def test_the_set_grows_as_asked(backend):
    X, y, settings = large(5, "squared_hinge")
    iterations = {}
    for grow in (1, 3, 0.9, 0.01):
        history = ez.solve(X, y, method="iga", backend=backend, grow=grow, **settings).history
        sizes = {row.iteration: row.integral for row in history if row.integral}
        steps = [after - before for before, after in pairwise(sizes.values())]
        iterations[grow] = len(sizes)
        if grow >= 1:
            assert len(steps) >= 1, "too easy to tell anything"
            assert steps == [grow] * len(steps), (grow, steps)
    assert iterations[0.01] <= iterations[0.9]
    assert iterations[3] < iterations[1]


@pytest.mark.parametrize(("loss", "backend"), [("hinge", "highs"), *((loss, b) for loss in LOSSES for b in ("scip", "gurobi"))])
def test_formulations_of_fifty_features(loss, backend):
    """What solvers make of the whole formulation in seconds: few rows and much ridge."""
    X, y, _ = ez.datasets.make_classification(40, 50, 3, s=3.0, random_state=1)
    settings = {"loss": loss, "lambda_0": 0.05 if loss == "logistic" else 0.1, "lambda_2": 0.1}
    exact = ez.solve(X, y, **settings)
    solution = ez.solve(X, y, method="mip", backend=backend, time_limit=120.0, **settings)
    assert solution.status == "optimal", solution.message
    assert len(solution.support) > 0
    assert solution.objective == pytest.approx(exact.objective, rel=1e-4)
    assert solution.lower_bound <= exact.objective * (1.0 + 1e-7)
    assert exact.lower_bound <= solution.objective * (1.0 + 1e-7)
    check_history(solution, min(exact.objective, solution.objective), backend)
