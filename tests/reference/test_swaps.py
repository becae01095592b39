"""Swaps of any size against enumeration of the models that they lead to."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from support.cases import draw, plain
from support.oracle import LOSSES as FORMULAS
from support.problems import LOSSES, PENALTIES, STORAGES, random_problem, store, target

import ellzero as ez
from ellzero import _core
from ellzero.exact.incumbent import as_start
from ellzero.exact.options import SwapNeighbourhood, search_options
from ellzero.exact.search import search_for
from ellzero.problem.coefficients import Coefficients
from ellzero.problem.making import make_problem
from ellzero.problem.model import make_model
from ellzero.solvers.fields import core_object
from ellzero.solvers.paths import core_problem

GAP = 1e-5


def near(home, size, features):
    """All sets that at most `size` features leave and at most as many others enter."""
    home, others = sorted(home), sorted(set(features) - set(home))
    for out in range(min(size, len(home)) + 1):
        for gone in combinations(home, out):
            for more in range(min(size, len(others)) + 1):
                for come in combinations(others, more):
                    yield frozenset(home) - set(gone) | set(come)


class Neighbours:
    """The oracle's fits of a case's models, with lambda_0."""

    def __init__(self, case):
        self.lambda_0, self.model = case.settings["lambda_0"], case.oracle()

    def value(self, support):
        return self.model.fit(support).value + self.lambda_0 * len(support)

    def best(self, home, size):
        return min(near(home, size, self.model.counted), key=self.value)


def swap_case(seed):
    """A problem with lambda_0 and few features, some of them pinned or unpenalized."""
    case = draw(60_000 + seed)
    while len(case.counted) > 8 or case.settings["lambda_0"] == 0.0:
        seed += 1000
        case = draw(60_000 + seed)
    del case.settings["k"]
    return case


def improve(case, start=None, **options):
    settings = dict(case.settings)
    settings["unpenalized"] = settings["unpenalized"] or None
    settings.pop("k", None)
    return ez.improve(case.X, case.y, start, **{"gap": GAP, **settings, **options})


def check_inescapable(case, solution, size, neighbours, where):
    home = frozenset(np.flatnonzero((solution.coef != 0.0) & case.counted).tolist())
    least = neighbours.value(neighbours.best(home, size))
    assert solution.status == "optimal", where
    assert solution.swap_size == size, where
    assert solution.objective <= least * (1.0 + GAP) / (1.0 - GAP) + 1e-10, where
    assert solution.lower_bound <= least * (1.0 + 1e-7) + 1e-12, where
    assert solution.gap <= GAP, where
    assert case.value(solution.coef, solution.intercept) == pytest.approx(solution.objective, rel=1e-12), where
    return home


def check_proof(case, solution, size, where):
    report = ez.verify(solution.certificate, case.X, case.y)
    assert report.valid, f"{where}: {report.reasons}"
    assert report.swap_size == size, where
    assert report.lower_bound >= solution.lower_bound - 1e-9 * solution.objective, where
    assert f"over swaps of at most {size}" in repr(solution), where


def bad_start(case):
    """The features that correlate least with y, each as large as may be without nonsense."""
    strength = np.abs((case.X - case.X.mean(axis=0)).T @ (case.y - np.mean(case.y)))
    coef = np.zeros(len(case.counted))
    coef[np.argsort(strength)[: len(coef) // 2]] = 0.01
    low, high = case.limits()
    return np.clip(coef, low, high)


# Inescapable minima ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("seed", range(16))
def test_no_swap_improves(seed, size):
    """From local search and from a bad start, whatever the loss, the penalty and the bounds."""
    case = swap_case(seed)
    neighbours, bad = Neighbours(case), bad_start(case)
    for start in (None, bad):
        solution = improve(case, start, swap_size=size)
        where = f"{case.words}, swaps of {size} from {start}: {solution!r}"
        check_inescapable(case, solution, size, neighbours, where)
        check_proof(case, solution, size, where)
    assert solution.objective <= case.value(bad, 0.0) * (1.0 + 1e-12), where


@pytest.mark.parametrize("seed", range(16, 24))
def test_swaps_of_all_features_reach_the_best(seed):
    case = swap_case(seed)
    truth = case.solve_oracle()[0]
    for size in (len(case.counted), 50):
        solution = improve(case, bad_start(case), swap_size=size)
        assert solution.objective == pytest.approx(truth, rel=1e-5, abs=1e-10), case.words
        assert solution.lower_bound <= truth * (1.0 + 1e-7), case.words
        check_proof(case, solution, size, case.words)


@pytest.mark.parametrize(
    ("method", "backend"), [("iga", "builtin"), ("iga", "highs"), ("iga", "scip"), ("mip", "highs"), ("mip", "scip")]
)
@pytest.mark.parametrize(("seed", "loss"), list(enumerate(LOSSES)))
def test_methods_find_the_same(seed, loss, method, backend):
    """From the same start each makes the best swap: their steps are the same up to the gap."""
    case = plain(60 + seed, loss, p=6, n=25, lambda_0=0.02, lambda_2=0.02)
    neighbours, start = Neighbours(case), bad_start(case)
    expected = improve(case, start, swap_size=2)
    solution = improve(case, start, swap_size=2, method=method, backend=backend, gap=1e-4 if backend == "scip" else GAP)
    where = f"{case.words}, {method} by {backend}"
    assert solution.objective == pytest.approx(expected.objective, rel=1e-4), where
    home = frozenset(solution.support.tolist())
    assert solution.lower_bound <= neighbours.value(neighbours.best(home, 2)) * (1.0 + 1e-7), where
    report = ez.verify(solution.certificate, case.X, case.y)
    assert report.valid == (solution.prover is None), f"{where}: {report.reasons}"
    assert report.swap_size == 2, where


@pytest.mark.parametrize(("method", "backend"), [("bnb", "builtin"), ("iga", "builtin"), ("iga", "highs"), ("mip", "highs")])
@pytest.mark.parametrize("seed", range(8))
def test_one_search_finds_the_best_swap(seed, method, backend):
    """From any set of features, however bad: one search and nothing after it."""
    case = plain(90 + seed, LOSSES[seed % 4], p=7, n=25, lambda_0=0.01, lambda_2=0.02)
    neighbours, problem = Neighbours(case), make_problem(case.X, case.y, loss=case.settings["loss"], lambda_2=0.02)
    rng = np.random.default_rng(seed)
    for size in (1, 2):
        home = np.sort(rng.permutation(np.arange(2, 7))[: rng.integers(2, 6)]).astype(np.int32)
        coef = neighbours.model.fit(frozenset(home.tolist())).coef
        options = replace(
            search_options(lambda_0=0.01, method=method, backend=backend, gap=GAP),
            swaps=SwapNeighbourhood(home=home, size=size),
        )
        solution = search_for(problem, options, [as_start(problem, coef, 0.01)], heuristic=False).solve()
        where = f"{case.words}, {method} by {backend}, swaps of {size} from {home}"
        best = neighbours.best(home.tolist(), size)
        assert solution.status == "optimal", where
        assert solution.objective == pytest.approx(neighbours.value(best), rel=1e-5), where
        assert solution.lower_bound <= neighbours.value(best) * (1.0 + 1e-7), where
        assert frozenset(solution.support.tolist()) in set(near(home.tolist(), size, range(7))), where


def test_the_best_of_a_neighbourhood_is_not_the_best_of_all():
    """Else the tests above would tell nothing: swaps of one and of two end at different models."""
    escaped = 0
    for seed in range(40):
        X, y, _ = ez.datasets.make_classification(40, 12, 4, correlation="constant", rho=0.9, s=3.0, random_state=seed)
        start = np.zeros(12)
        start[-4:] = 0.1
        settings = {"lambda_0": 0.01, "lambda_2": 0.001}
        one, two = (ez.improve(X, y, start, swap_size=size, **settings) for size in (1, 2))
        assert two.objective <= one.objective * (1.0 + 1e-3) or two.support.tolist() != one.support.tolist()
        further = ez.improve(X, y, one.model, swap_size=2, **settings)
        assert further.objective <= one.objective * (1.0 + 1e-15)  # its own start, up to the last digit
        escaped += further.objective < one.objective * (1.0 - 1e-4)
    assert escaped >= 1


@pytest.mark.parametrize("loss", LOSSES)
def test_the_paper_s_inequality(loss):
    """P(beta) <= P(beta - U^S1 beta + U^S2 gamma) for |S1|, |S2| <= 2: what stays is held, gamma and the intercept are free."""
    case = plain(70, loss, p=7, n=30, lambda_0=0.02, lambda_2=0.02)
    solution = improve(case, swap_size=2)
    assert len(solution.support) >= 2
    inside, outside = solution.support.tolist(), sorted(set(range(7)) - set(solution.support.tolist()))
    rng = np.random.default_rng(0)
    for _ in range(12):
        gone = rng.choice(inside, rng.integers(0, 3), replace=False)
        pool = np.concatenate([gone, outside]).astype(int)  # S2 may bring back what S1 takes out
        come = rng.choice(pool, min(len(pool), int(rng.integers(1, 3))), replace=False)
        held = solution.coef.copy()
        held[gone] = 0.0

        def cost(free, held=held, come=come):
            beta = held.copy()
            beta[come] = free[1:]
            losses = FORMULAS[loss](case.X @ beta + free[0], case.y)
            return losses.mean() + 0.02 * beta @ beta + 0.02 * np.count_nonzero(beta)

        begin = np.concatenate([[solution.intercept], np.full(len(come), 0.1)])
        swapped = minimize(cost, begin, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 2000}).fun
        assert solution.objective * (1.0 - GAP) <= swapped + 1e-12, (loss, gone, come)


# Paths ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", [{"lambda_2": 0.003}, {"lambda_1": 0.005}, {}], ids=["l0l2", "l0l1", "l0"])
def test_paths_with_larger_swaps(loss, penalty):
    case = plain(80, loss, p=8, n=30, **penalty)
    scale = 2.0 if loss == "squared_error" else 1.0
    grid = scale * np.array([0.1, 0.03, 0.01, 0.003])
    one, two = (
        ez.fit_path(case.X, case.y, loss=loss, lambda_0=grid, algorithm="local_search", swap_size=size, **penalty)
        for size in (1, 2)
    )
    np.testing.assert_array_equal(two.lambda_0, one.lambda_0)
    assert (two.objective <= one.objective * (1.0 + 1e-9)).all()
    for lambda_0, model in zip(two.lambda_0, two, strict=True):
        case.settings["lambda_0"] = lambda_0
        case.settings["bound"] = None if penalty else 1.2 * max(np.abs(model.coef).max(), 1e-3)
        neighbours = Neighbours(case)
        home = frozenset(model.support.tolist())
        assert model.objective == pytest.approx(case.value(model.coef, model.intercept), rel=1e-9)
        assert model.objective * (1.0 - 1.1e-4) <= neighbours.value(neighbours.best(home, 2)), (loss, penalty, lambda_0)


def test_a_path_that_larger_swaps_improve():
    better = 0
    for seed in range(6):
        X, y, _ = ez.datasets.make_classification(40, 40, 5, correlation="constant", rho=0.9, s=3.0, random_state=seed)
        settings = {"lambda_0": [0.05, 0.02, 0.01], "lambda_2": 0.001, "algorithm": "local_search", "effort": "quick"}
        one, two = (ez.fit_path(X, y, swap_size=size, **settings) for size in (1, 2))
        assert (two.objective <= one.objective * (1.0 + 1e-9)).all(), seed
        better += (two.objective < one.objective * (1.0 - 1e-4)).sum()
    assert better >= 1


def swap_path(seed):
    """Data, and a path with swaps of two or three features, of any loss, penalty and storage."""
    rng = np.random.default_rng(seed)
    loss, penalty = LOSSES[seed % 4], list(PENALTIES.values())[rng.integers(len(PENALTIES))]
    X, y, weight = random_problem(seed, int(rng.integers(20, 50)), int(rng.integers(5, 12)), 1.0)
    y = target(y, loss)
    problem = {"loss": loss, "sample_weight": weight, **penalty}
    grid = (np.var(y) if loss == "squared_error" else 1.0) * np.geomspace(0.3, 1e-4, int(rng.integers(1, 8)))
    most = [None, 0, 1, 2, 3, 4][rng.integers(6)]
    path = {"lambda_0": grid, "max_support": most, "algorithm": "local_search"}
    return store(X, STORAGES[rng.integers(len(STORAGES))]), y, problem, path, int(rng.integers(2, 4))


@pytest.mark.parametrize("seed", range(100, 140))
def test_paths_with_larger_swaps_keep_their_promises(seed):
    """No model has more features than are allowed, none depends on the threads, and a converged one satisfies Theorem 1."""
    X, y, problem, path, size = swap_path(seed)
    one = ez.fit_path(X, y, **problem, **path)
    found, again = (ez.fit_path(X, y, swap_size=size, n_jobs=threads, **problem, **path) for threads in (1, 3))
    np.testing.assert_array_equal(again.lambda_0, found.lambda_0)
    np.testing.assert_array_equal(again.coef.toarray(), found.coef.toarray())
    np.testing.assert_array_equal(again.intercept, found.intercept)
    assert min(len(one), 1) <= len(found) <= len(one)
    assert (found.objective <= one.objective[: len(found)] * (1.0 + 1e-9)).all()
    if path["max_support"] is not None:
        assert found.support_size.max(initial=0) <= path["max_support"]
    for k, lambda_0 in enumerate(found.lambda_0):
        report = ez.check_stationarity(X, y, found.coef[k], found.intercept[k], lambda_0=lambda_0, **problem)
        assert report.satisfied or not found.converged[k], (k, report)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_path_with_larger_swaps_ends_before_a_model_that_is_too_large(loss):
    shorter = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((40, 10))
        y = (X[:, 0] + X[:, 1] + rng.standard_normal(40) > 0.0).astype(int)
        settings = {"lambda_0": np.geomspace(0.3, 1e-4, 12), "lambda_2": 1e-2, "algorithm": "local_search", "loss": loss}
        path = ez.fit_path(X, y, swap_size=2, max_support=3, **settings)
        whole = ez.fit_path(X, y, swap_size=2, **settings)
        assert path.support_size.max() <= 3
        shorter += len(path) < len(whole)
        # Up to where it ends, it is the path without a limit.
        np.testing.assert_allclose(path.objective, whole.objective[: len(path)], rtol=2e-4)
        # A path begins with a model, whatever may be gained by one that is too large.
        last = ez.fit_path(X, y, swap_size=2, max_support=3, **{**settings, "lambda_0": path.lambda_0[-1:]})
        assert len(last) == 1
        assert last.support_size[0] <= 3
    assert shorter >= 6


# The witness ----------------------------------------------------------------------------------------------------------


def start_search(case, neighbours, home, size):
    """A search over the swaps from `home`, and the best of them by enumeration, as the core takes it."""
    settings = {name: value for name, value in case.settings.items() if name not in ("lambda_0", "bound", "k")}
    settings["unpenalized"] = None
    settings["lower"], settings["upper"] = case.limits()
    problem, lambda_0 = make_problem(case.X, case.y, **settings), case.settings["lambda_0"]

    def pack(support):
        fit = neighbours.model.fit(support)
        coef = problem.penalty.clip(np.arange(len(fit.coef)), (fit.coef / case.spread)[:, None])[:, 0]
        coef[~np.isin(np.arange(len(coef)), sorted(support))] = 0.0
        intercept = fit.intercept - case.centre @ coef if case.settings["standardize"] else fit.intercept
        there = np.flatnonzero(coef).astype(np.int32)
        cost = case.value(coef, intercept) - lambda_0 * len(there)
        objective = cost + lambda_0 * len(there)
        at = Coefficients(there, coef[there, None], np.array([intercept]))
        model = make_model(problem, at, cost=cost, lambda_0=lambda_0, objective=objective)
        return problem.units.core_models([model])[0], objective

    search = _core.Search(
        core_problem(problem, 1e-9),
        core_object(_core.SearchOptions, lambda_0=lambda_0, k=len(case.counted), gap=1e-9, home=sorted(home), swap_size=size),
        pack(frozenset(home))[0],
    )
    return search, *pack(neighbours.best(home, size))


def witness_case(seed):
    case = swap_case(seed)
    while case.settings["unpenalized"]:
        seed += 100
        case = swap_case(seed)
    neighbours, rng = Neighbours(case), np.random.default_rng(seed)
    chosen = rng.permutation(sorted(neighbours.model.counted))[: rng.integers(0, len(neighbours.model.counted) + 1)]
    # A feature that bounds hold at zero is not in the model.
    return case, neighbours, np.flatnonzero(np.abs(neighbours.model.fit(frozenset(chosen.tolist())).coef) > 1e-6).tolist()


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("seed", range(24, 36))
def test_the_best_swap_is_never_lost(seed, size):
    case, neighbours, home = witness_case(seed)
    search, witness, value = start_search(case, neighbours, home, size)
    where = f"{case.words}, swaps of {size} from {home}"
    search.follow(witness, value)
    assert search.run(seconds=60.0, node_limit=2**62, report=None) == _core.SearchStatus.finished, where
    # Less is possible: a feature that comes may push others of its model to zero, more than may leave.
    assert search.objective <= value * (1.0 + 1e-7) + 1e-12, where
    assert search.lower_bound <= value * (1.0 + 1e-12), where
    there = search.incumbent().support.tolist()
    if len(set(home) - set(there)) <= size:
        assert search.objective == pytest.approx(value, rel=1e-7, abs=1e-12), where


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("seed", range(24, 36))
def test_a_swap_too_good_to_be_true_is_lost(seed, size):
    case, neighbours, home = witness_case(seed)
    search, witness, value = start_search(case, neighbours, home, size)
    search.follow(witness, value - 0.01 * abs(value))
    with pytest.raises(_core.WitnessLost, match="the known solution was lost at node"):
        search.run(seconds=60.0, node_limit=2**62, report=None)
