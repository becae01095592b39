"""The exact solver against an oracle that shares nothing with it: every problem is also solved by enumeration."""

from functools import cache, partial

import numpy as np
import pytest
from support.cases import draw, plain
from support.problems import LOSSES

import ellzero as ez
from ellzero import _core
from ellzero.exact.options import SearchOptions
from ellzero.problem.coefficients import Coefficients
from ellzero.problem.making import make_problem
from ellzero.problem.model import make_model
from ellzero.solvers.fields import core_object
from ellzero.solvers.paths import core_problem

CHUNK = 25


@cache
def truth_of(seed):
    """The objective of the best model of a random problem."""
    return draw(seed).solve_oracle()[0]


def check(case, truth=None):
    truth = case.solve_oracle()[0] if truth is None else truth
    sol = case.solve()
    where = f"{case.words}: {sol.objective!r} against {truth!r}, {sol.status}"
    assert sol.objective == pytest.approx(truth, rel=1e-8, abs=1e-12), where
    assert sol.lower_bound <= truth * (1.0 + 1e-9), where
    assert sol.lower_bound <= sol.objective, where
    assert sol.status in ("optimal", "precision"), where
    assert sol.gap <= (1e-9 if sol.status == "optimal" else 1e-5), where
    # What is returned is what it says.
    assert case.value(sol.coef, sol.intercept) == pytest.approx(sol.objective, rel=1e-12), where
    np.testing.assert_array_equal(np.flatnonzero(sol.coef), sol.support, err_msg=where)
    assert case.settings["fit_intercept"] or sol.intercept == 0.0, where
    assert case.settings["k"] is None or np.count_nonzero(sol.coef[case.counted]) <= case.settings["k"], where
    low, high = case.limits()
    assert (sol.coef >= low - 1e-12 * np.abs(low)).all(), where
    assert (sol.coef <= high + 1e-12 * np.abs(high)).all(), where
    report = ez.verify(sol.certificate, case.X, case.y)
    assert report.valid, f"{where}: {report.reasons}"
    assert report.lower_bound <= truth * (1.0 + 1e-9), where
    assert report.lower_bound >= sol.lower_bound - 1e-9 * abs(truth), where
    assert report.objective == pytest.approx(sol.objective, rel=1e-12), where
    assert report.conditional == sol.certificate.conditional, where
    assert report.conditional or case.settings["bound"] is None, where
    return sol


@pytest.mark.parametrize("first", range(0, 300, CHUNK))
def test_truth(first, record_property):
    nodes = 0
    for seed in range(first, first + CHUNK):
        nodes += check(draw(seed), truth_of(seed)).nodes
    if first == 0:
        record_property("figure", f"exact against enumeration: 300 problems, {nodes} nodes in the first {CHUNK}")


@pytest.mark.parametrize("alike", [0.0, 0.2])
@pytest.mark.parametrize("first", range(0, 150, CHUNK))
def test_truth_with_large_blocks(first, alike, monkeypatch):
    """Features are decided together that hardly resemble each other, or not at all: clauses everywhere."""
    monkeypatch.setattr("ellzero.exact.options.SearchOptions", partial(SearchOptions, alike=alike))
    largest = 0
    for seed in range(first, first + CHUNK):
        sol = check(draw(seed), truth_of(seed))
        largest = max(largest, np.diff(sol.certificate.tree["block_ends"], prepend=0).max(initial=0))
    assert largest > 1, "without clauses this would prove little"


# The witness ----------------------------------------------------------------------------------------------------------


def start_search(case, truth):
    """A search from the null model that follows the oracle's optimum."""
    settings = {name: value for name, value in case.settings.items() if name not in ("lambda_0", "k", "bound")}
    settings["unpenalized"] = settings["unpenalized"] or None
    settings["lower"], settings["upper"] = case.limits()
    problem = make_problem(case.X, case.y, **settings)
    lambda_0 = case.settings["lambda_0"]

    def pack(coef, intercept):
        support = np.flatnonzero(coef).astype(np.int32)
        cost = case.value(coef, intercept) - lambda_0 * case.counted[support].sum()
        at = Coefficients(support, coef[support, None], np.array([intercept]))
        model = make_model(problem, at, cost=cost, lambda_0=lambda_0, objective=case.value(coef, intercept))
        return problem.units.core_models([model])[0]

    objective, _, beta, intercept = truth
    coef = problem.penalty.clip(np.arange(len(beta)), (beta / case.spread)[:, None])[:, 0]
    intercept = intercept - case.centre @ coef if case.settings["standardize"] else intercept
    search = _core.Search(
        core_problem(problem, 1e-9),
        core_object(
            _core.SearchOptions,
            lambda_0=lambda_0,
            k=len(beta) if case.settings["k"] is None else case.settings["k"],
            gap=1e-9,
            alike=(0.5, 0.2, 0.0)[case.seed % 3],
            threads=1 + case.seed % 2,
        ),
        pack(np.zeros(len(beta)), 0.0),
    )
    assert case.value(coef, intercept) == pytest.approx(objective, rel=1e-8), case.words
    return search, pack(coef, intercept)


def witness_case(seed):
    """No unpenalized features: without a penalty these would need a bound of their own."""
    case = draw(10_000 + seed)
    while case.settings["unpenalized"]:
        seed += 1000
        case = draw(10_000 + seed)
    return case


@pytest.mark.parametrize("seed", range(48))
def test_the_witness_is_never_lost(seed):
    case = witness_case(seed)
    truth = case.solve_oracle()
    search, witness = start_search(case, truth)
    search.follow(witness, truth[0])
    assert search.run(seconds=60.0, node_limit=2**62, report=None) == _core.SearchStatus.finished, case.words
    assert search.objective == pytest.approx(truth[0], rel=1e-8, abs=1e-12), case.words
    assert search.lower_bound <= truth[0] * (1.0 + 1e-12), case.words


@pytest.mark.parametrize("seed", range(48))
def test_the_witness_shouts(seed):
    """A solution that claims to be better than the best is lost: else the test above would prove nothing."""
    case = witness_case(seed)
    truth = case.solve_oracle()
    search, witness = start_search(case, truth)
    search.follow(witness, truth[0] - 0.01 * abs(truth[0]))
    with pytest.raises(_core.WitnessLost, match="the known solution was lost at node"):
        search.run(seconds=60.0, node_limit=2**62, report=None)


# Corners --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_duplicate_columns(loss):
    case = plain(1, loss, lambda_0=0.01, lambda_2=0.01)
    case.X[:, 4:] = case.X[:, :4]
    sol = check(case)
    assert len(sol.support) > 0
    case.settings["lambda_2"], case.settings["lambda_1"] = 0.0, 0.01
    case.X[:, 7] = -case.X[:, 0]
    check(case)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_constant_columns(loss, standardize, fit_intercept):
    case = plain(2, loss, lambda_0=0.01, lambda_2=0.01, standardize=standardize, fit_intercept=fit_intercept)
    case.X[:, 0] = 0.0
    case.X[:, 3] = 1.7
    if standardize:
        case.centre = case.X.mean(axis=0) if fit_intercept else np.zeros(8)
        case.spread = np.sqrt(((case.X - case.centre) ** 2).mean(axis=0))
        case.spread[case.spread < 1e-12] = 1.0
    sol = check(case)
    assert sol.coef[0] == 0.0
    assert not fit_intercept or sol.coef[3] == 0.0


@pytest.mark.parametrize("loss", LOSSES)
def test_more_features_than_rows(loss):
    for seed in (3, 4):
        check(plain(seed, loss, n=6, p=10, lambda_0=0.02, lambda_2=0.01))
        check(plain(seed, loss, n=6, p=10, k=2, lambda_1=0.02))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("k", [0, 7, 8, 50])
def test_sizes_at_the_ends(loss, k):
    sol = check(plain(5, loss, k=k, lambda_2=0.01))
    assert len(sol.support) <= min(k, 8)
    both = check(plain(5, loss, k=k, lambda_0=0.03, lambda_2=0.01))
    assert len(both.support) <= min(k, 8)


@pytest.mark.parametrize("loss", LOSSES)
def test_lambda_0_of_zero_means_none(loss):
    case = plain(6, loss, k=3, lambda_2=0.01)
    zero, none = case.solve(lambda_0=0.0), case.solve(lambda_0=None)
    assert zero.objective == none.objective
    assert zero.nodes == none.nodes
    whole = case.solve(lambda_0=0.0, k=None)
    case.settings["k"] = None
    assert whole.objective == pytest.approx(case.solve_oracle()[0], rel=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_huge_lambda_0_leaves_nothing(loss, fit_intercept):
    for penalty in ({"lambda_2": 0.01}, {"lambda_1": 0.01}, {"bound": 2.0}):
        sol = check(plain(7, loss, lambda_0=1e3, fit_intercept=fit_intercept, **penalty))
        assert len(sol.support) == 0
        assert not sol.coef.any()


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
def test_separable_data(loss):
    """The loss alone has no minimiser, or the best loss is zero."""
    for lambda_2 in (1e-2, 1e-4):
        case = plain(8, loss, lambda_0=0.01, lambda_2=lambda_2)
        case.y = np.where(case.X[:, 2] > 0.0, 1, -1)
        check(case)
    case = plain(8, loss, k=1, bound=1e3)
    case.X[:, 2] += 0.2 * np.sign(case.X[:, 2])
    case.y = np.where(case.X[:, 2] > 0.0, 1, -1)
    sol = case.solve()
    assert sol.objective <= 1e-9
    assert ez.verify(sol.certificate, case.X, case.y).valid


def test_a_perfect_fit():
    case = plain(9, "squared_error", k=2, bound=10.0)
    case.y = 2.0 * case.X[:, 1] - case.X[:, 5] + 1.0
    sol = case.solve()
    np.testing.assert_array_equal(sol.support, [1, 5])
    assert 0.0 <= sol.lower_bound <= sol.objective <= 1e-12
    assert ez.verify(sol.certificate, case.X, case.y).valid


# Determinism ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_and_repetition(loss):
    rng = np.random.default_rng(11)
    X = rng.standard_normal((50, 25))
    y = X[:, :5].sum(axis=1) + 2.0 * rng.standard_normal(50)
    y = y if loss == "squared_error" else np.where(y > 0.0, 1, -1)
    scale = 3.0 if loss == "squared_error" else 1.0
    settings = {"loss": loss, "lambda_0": 0.02 * scale, "lambda_2": 0.02 * scale, "gap": 1e-6}
    first, second, both = (ez.solve(X, y, n_jobs=n_jobs, **settings) for n_jobs in (1, 1, 2))
    assert first.nodes > 1, "too easy to tell anything"
    assert (first.nodes, first.lower_bound, first.objective) == (second.nodes, second.lower_bound, second.objective)
    np.testing.assert_array_equal(first.coef, second.coef)
    for name in first.certificate.arrays:
        np.testing.assert_array_equal(first.certificate.arrays[name], second.certificate.arrays[name], err_msg=name)
    assert both.objective == pytest.approx(first.objective, rel=1e-9)
    assert both.lower_bound <= first.objective
    assert both.gap <= 1e-6
    assert ez.verify(both.certificate, X, y).valid
