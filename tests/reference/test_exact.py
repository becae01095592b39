"""The exact solver against an oracle that shares nothing with it: every problem is also solved by enumeration."""

from dataclasses import dataclass

import numpy as np
import pytest
from oracle import best_subset
from problems import LOSSES

import ellzero as ez
from ellzero import _core
from ellzero.problem import make_problem
from ellzero.solvers.packing import make_model, to_core_scale
from ellzero.solvers.paths import core_problem

CHUNK = 25
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

    def solve_oracle(self):
        settings = dict(self.settings)
        settings.pop("standardize")
        settings["weights"] = settings.pop("sample_weight")
        for name in ("lower", "upper"):
            if settings[name] is not None:
                settings[name] = settings[name] * self.spread
        Z = (self.X - self.centre) / self.spread if self.settings["standardize"] else self.X
        return best_subset(Z, self.y, **settings)

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


def check(case):
    truth = case.solve_oracle()[0]
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


@pytest.mark.parametrize("first", range(0, 500, CHUNK))
def test_truth(first, record_property):
    nodes = 0
    for seed in range(first, first + CHUNK):
        nodes += check(draw(seed)).nodes
    if first == 0:
        record_property("figure", f"exact against enumeration: 500 problems, {nodes} nodes in the first {CHUNK}")


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
        return to_core_scale(problem, [make_model(problem, support, coef[support], intercept, lambda_0, cost)])

    objective, _, beta, intercept = truth
    coef = problem.clip(np.arange(len(beta)), beta / case.spread)
    intercept = intercept - case.centre @ coef if case.settings["standardize"] else intercept
    search = _core.Search(
        core_problem(problem, 1e-9),
        lambda_0=lambda_0,
        k=len(beta) if case.settings["k"] is None else case.settings["k"],
        gap=1e-9,
        free_bound=np.inf,
        incumbent=pack(np.zeros(len(beta)), 0.0),
        threads=1 + case.seed % 2,
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
    assert search.run(seconds=60.0, node_limit=2**62, report=None) == "finished", case.words
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
