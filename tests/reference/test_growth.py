"""Classification without any penalty: the growth of the loss limits the coefficients, and the proof assumes nothing."""

from itertools import combinations

import numpy as np
import pytest
from scipy import optimize, sparse, special

import ellzero as ez
from ellzero.exact.growth import NotProved, find_growth
from ellzero.problem.making import make_problem

LOSSES = ["logistic", "hinge", "squared_hinge"]


def draw(seed):
    """Labels that no plane separates, columns that are correlated and of several sizes, and settings."""
    rng = np.random.default_rng([seed, 41])
    p = int(rng.integers(2, 7))
    n = int(rng.integers(40, 60))
    X = rng.standard_normal((n, p)) @ (np.eye(p) + 0.5 * rng.standard_normal((p, p)))
    y = X[:, 0] / X[:, 0].std() + 1.5 * rng.standard_normal(n) > rng.choice([0.0, 0.7])
    X = X * 10.0 ** rng.uniform(-3.0, 3.0, p) + rng.choice([0.0, 5.0]) * rng.standard_normal(p)
    settings = {"loss": LOSSES[seed % 3], "fit_intercept": bool(rng.random() < 0.6), "standardize": bool(rng.random() < 0.4)}
    form = rng.integers(3)
    if form != 0:
        settings["k"] = int(rng.integers(1, p + 1))
    if form != 1:
        settings["lambda_0"] = float(10.0 ** rng.uniform(-3.0, -1.0))
    if rng.random() < 0.4:
        settings["sample_weight"] = rng.uniform(0.1, 2.0, n) * (rng.random(n) < 0.9)
    if rng.random() < 0.3:
        settings["unpenalized"] = [int(rng.integers(p))]
    if rng.random() < 0.3:
        settings["lower"] = np.where(rng.random(p) < 0.5, 0.0, -np.inf)
    if rng.random() < 0.3:
        settings["upper"] = np.where(rng.random(p) < 0.5, 1.0 / X.std(0), np.inf)
    return X, y, settings


def fit(X, y, w, loss, intercept, low, high):
    """The least loss of these columns, and their coefficients: by linear programming for the hinge, else BFGS."""
    n, m = X.shape
    if not m + intercept:
        return value_at(loss, w, np.zeros(n)), np.zeros(0)
    scale = np.sqrt(w @ X**2)
    sign = np.where(y, 1.0, -1.0)
    A = sign[:, None] * np.column_stack([X / scale, np.ones((n, int(intercept)))])
    bounds = [*zip(low * scale, high * scale, strict=True), *[(-np.inf, np.inf)] * intercept]
    if loss == "hinge":
        rows = sparse.hstack([sparse.csr_matrix(-A), -sparse.eye(n)])
        found = optimize.linprog(np.r_[np.zeros(A.shape[1]), w], rows, -np.ones(n), bounds=[*bounds, *[(0.0, None)] * n])
        return found.fun, found.x[:m] / scale

    def value_and_slopes(b):
        margin = A @ b
        slope = -special.expit(-margin) if loss == "logistic" else -2.0 * np.maximum(0.0, 1.0 - margin)
        return value_at(loss, w, margin), A.T @ (w * slope)

    precise = {"ftol": 1e-16, "gtol": 1e-10, "maxiter": 5000}
    found = optimize.minimize(
        value_and_slopes, np.zeros(A.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B", options=precise
    )
    return found.fun, found.x[:m] / scale


def value_at(loss, w, margin):
    """The weighted loss at these margins."""
    if loss == "logistic":
        return float(w @ np.logaddexp(0.0, -margin))
    short = np.maximum(0.0, 1.0 - margin)
    return float(w @ (short if loss == "hinge" else short**2))


def all_fits(X, y, settings):
    """The objective and the coefficients of the best model of every support."""
    n, p = X.shape
    w = settings.get("sample_weight", np.ones(n))
    w = w / w.sum()
    free = settings.get("unpenalized", [])
    others = [j for j in range(p) if j not in free]
    low, high = (np.broadcast_to(settings.get(name, end), p) for name, end in (("lower", -np.inf), ("upper", np.inf)))
    for size in range(min(settings.get("k", p), len(others)) + 1):
        for chosen in combinations(others, size):
            columns = [*free, *chosen]
            arguments = settings["loss"], settings["fit_intercept"], low[columns], high[columns]
            value, coef = fit(X[:, columns], y, w, *arguments)
            yield value + settings.get("lambda_0", 0.0) * size, columns, coef


def growth_of(X, y, settings):
    """The growth of the loss, and the problem."""
    rest = {name: value for name, value in settings.items() if name not in ("k", "lambda_0")}
    problem = make_problem(X, y, **rest)
    return find_growth(problem, 1), problem


def assert_proved(solution, X, y, **settings):
    """The proof holds in float64 and in exact arithmetic, and assumes nothing."""
    assert solution.status == "optimal", solution
    assert not solution.certificate.conditional
    for arithmetic in ("float64", "exact"):
        report = ez.verify(solution.certificate, X, y, arithmetic=arithmetic, **settings)
        assert report.valid, report.reasons
        assert not report.conditional
        assert report.reasons == []


@pytest.mark.parametrize("seed", range(30))
def test_the_best_of_all_supports_is_found_and_proved(seed):
    X, y, settings = draw(seed)
    solution = ez.solve(X, y, **settings)
    assert_proved(solution, X, y, **settings)
    growth, problem = growth_of(X, y, settings)
    least = np.inf
    for objective, columns, coef in all_fits(X, y, settings):
        beta = coef * problem.spread[columns]
        slack = 1e-9 * (np.abs(beta) + problem.spread[columns] / X[:, columns].std(0))  # of the fits here
        assert (growth.low[columns] - slack <= beta).all()
        assert (beta <= growth.high[columns] + slack).all()
        least = min(least, objective)
    assert solution.objective == pytest.approx(least, rel=2e-4)
    assert solution.lower_bound <= least * (1.0 + 1e-7)


def noisy(seed, n, p, strength=1.0):
    """Labels that depend on the first two columns, and on noise."""
    rng = np.random.default_rng([seed, 42])
    X = rng.standard_normal((n, p)) + 0.5 * rng.standard_normal((n, 1))
    return X, strength * (X[:, 0] - X[:, 1]) + rng.logistic(size=n) > 0.0


def as_stored(X, tmp_path):
    np.save(tmp_path / "x.npy", np.asfortranarray(X))
    return ez.open_columns(tmp_path / "x.npy")


@pytest.mark.parametrize("storage", ["sparse", "stored", "float32"])
def test_any_storage(storage, tmp_path):
    X, y = noisy(0, 80, 6)
    X[np.abs(X) < 0.5] = 0.0
    X = X.astype(np.float32).astype(np.float64)
    other = {"sparse": sparse.csr_matrix, "stored": lambda X: as_stored(X, tmp_path), "float32": np.float32}[storage](X)
    solution, same = ez.solve(X, y, k=2), ez.solve(other, y, k=2)
    assert same.objective == pytest.approx(solution.objective, rel=1e-9)
    report = ez.verify(same.certificate, other, y)
    assert report.valid, report.reasons
    assert not report.conditional


@pytest.mark.parametrize("loss", LOSSES)
def test_columns_of_very_different_sizes(loss):
    X, y = noisy(1, 120, 6)
    plain = ez.solve(X, y, k=3, loss=loss, fit_intercept=False)
    scale = 10.0 ** np.linspace(-8.0, 8.0, 6)
    scaled = ez.solve(X * scale, y, k=3, loss=loss, fit_intercept=False)
    assert_proved(scaled, X * scale, y, loss=loss, k=3, fit_intercept=False)
    assert scaled.objective == pytest.approx(plain.objective, rel=2e-4)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_constant_columns_do_no_harm(fit_intercept):
    X, y = noisy(2, 100, 6)
    X[:, 3], X[:, 4] = 7.0, 0.0
    solution = ez.solve(X, y, k=3, fit_intercept=fit_intercept)
    assert_proved(solution, X, y, k=3, fit_intercept=fit_intercept)


def test_a_column_that_is_constant_but_for_rounding_is_not_trusted():
    X, y = noisy(2, 100, 5)
    X[:, 3] = 1.0
    X[0, 3] += 1e-14
    with pytest.raises(ez.InvalidInputError, match="lambda_2 must be positive"):
        ez.solve(X, y, k=2)


def test_columns_far_from_zero():
    X, y = noisy(3, 100, 5)
    solution = ez.solve(X + 1e5, y, k=2)
    assert_proved(solution, X + 1e5, y, k=2)
    assert solution.objective == pytest.approx(ez.solve(X, y, k=2).objective, rel=2e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rare", [1.0, 1e-4, 1e-9])
def test_nearly_separable(loss, rare):
    """One row, of little weight, is all that keeps the classes from being separable."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 3))
    y = X[:, 0] > 0.0
    y[0] = not y[0]
    X[1:, 0] += np.where(y[1:], 0.05, -0.05)
    w = np.ones(60)
    w[0] = rare
    settings = {"loss": loss, "k": 2, "sample_weight": w}
    solution = ez.solve(X, y, **settings)
    report = ez.verify(solution.certificate, X, y)
    assert report.valid, report.reasons
    least = min(objective for objective, _, _ in all_fits(X, y, {**settings, "fit_intercept": True}))
    assert solution.lower_bound <= least * (1.0 + 1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("method", ["bnb", "iga"])
def test_methods(loss, method):
    X, y = noisy(5, 150, 8)
    solution = ez.solve(X, y, k=3, loss=loss, method=method)
    assert_proved(solution, X, y, k=3, loss=loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_swaps(loss):
    X, y = noisy(6, 150, 8)
    solution = ez.improve(X, y, loss=loss, lambda_0=0.01, swap_size=2)
    assert solution.status == "optimal"
    report = ez.verify(solution.certificate, X, y)
    assert report.valid, report.reasons
    assert not report.conditional


def test_a_search_goes_on_from_a_checkpoint(tmp_path):
    X, y = noisy(7, 100, 20, 0.3)
    path = tmp_path / "search"
    whole = ez.solve(X, y, k=4)
    part = ez.solve(X, y, k=4, node_limit=10, checkpoint=path)
    assert part.status == "node_limit"
    assert ez.verify(part.certificate, X, y).valid
    rest = ez.solve(X, y, k=4, checkpoint=path)
    assert rest.status == "optimal"
    assert rest.objective == pytest.approx(whole.objective, rel=1e-4)
    report = ez.verify(rest.certificate, X, y)
    assert report.valid, report.reasons
    assert not report.conditional


def separable(X, y):
    y = X[:, 0] > X[:, 1]
    return X, y


def repeated(X, y):
    X[:, 4] = X[:, 2]
    return X, y


def combined(X, y):
    X[:, 4] = X[:, 2] - 3.0 * X[:, 0] + 1.0
    return X, y


def wide(X, y):
    return X[:5], np.arange(5) % 2


def one_class(X, y):
    y[:] = True
    y[0] = False
    X[0] = 9.0
    return X, y


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (separable, "since the columns separate the classes, or nearly do"),
        (one_class, "since the columns separate the classes, or nearly do"),
        (repeated, "since column 4 is a combination of others"),
        (combined, "since column 4 is a combination of others"),
        (wide, "since X has no more rows than columns"),
    ],
)
@pytest.mark.parametrize("loss", LOSSES)
def test_where_the_loss_does_not_grow_a_sentence_says_why_and_what_to_add(loss, change, why):
    X, y = change(*noisy(8, 60, 5))
    with pytest.raises(ez.InvalidInputError, match=f"lambda_2 must be positive .* lower and upper finite.*{why}; bound=M"):
        ez.solve(X, y, k=2, loss=loss)


def test_bounds_of_the_columns_that_cause_the_trouble_are_enough():
    X, y = repeated(*noisy(9, 80, 5))
    lower, upper = np.full(5, -np.inf), np.full(5, np.inf)
    lower[4], upper[4] = -2.0, 2.0
    solution = ez.solve(X, y, k=2, lower=lower, upper=upper)
    assert_proved(solution, X, y, k=2, lower=lower, upper=upper)
    without = ez.solve(X[:, :4], y, k=2)
    assert solution.objective == pytest.approx(without.objective, rel=2e-4)
    growth, _ = growth_of(X, y, {"lower": lower, "upper": upper})
    assert growth.columns.tolist() == [0, 1, 2, 3]


def test_free_features_need_no_assumption_where_the_loss_grows():
    X, y = noisy(10, 80, 5)
    settings = {"k": 1, "unpenalized": [0], "lower": np.r_[-np.inf, -np.ones(4)], "upper": np.r_[np.inf, np.ones(4)]}
    assert_proved(ez.solve(X, y, **settings), X, y, **settings)
    X, y = separable(X, y)
    X[:, 0] -= X[:, 1]  # alone, it separates the classes
    assert ez.solve(X, y, **settings).certificate.conditional


def test_an_assumed_bound_stays_an_assumption():
    X, y = noisy(11, 80, 5)
    assert ez.solve(X, y, k=2, bound=3.0).certificate.conditional


def test_too_many_columns():
    problem = make_problem(*noisy(12, 30, 5))
    with pytest.raises(NotProved, match="more than 2,000 columns"):
        find_growth(make_problem(np.tile(problem.design.stored(), 500), problem.y), 1)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_narrow_boxes_make_short_proofs(loss, monkeypatch):
    X, y = noisy(13, 150, 40, 0.4)
    narrowed = ez.solve(X, y, k=3, loss=loss)
    assert ez.verify(narrowed.certificate, X, y).valid
    monkeypatch.setattr("ellzero.exact.search.worth_narrowing", lambda problem: False)
    wide = ez.solve(X, y, k=3, loss=loss)
    assert narrowed.objective == pytest.approx(wide.objective, rel=2e-4)
    assert narrowed.nodes < wide.nodes / 3
