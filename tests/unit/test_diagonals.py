"""Diagonals in the calculus of the dual bound: no diagonal proves more than the truth, and only true ones are accepted."""

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from support.regions import ANY, Region, nodes_of

import ellzero as ez
from ellzero.exact.verifier.arithmetic import Float64
from ellzero.exact.verifier.bounds import Stated
from ellzero.exact.verifier.data import Refused
from ellzero.exact.verifier.diagonals import SLACK, Diagonals, PointModel
from ellzero.exact.verifier.losses import KNOWN

SEEDS = range(25)


@pytest.fixture(autouse=True)
def quiet():
    """As `verify` does: what overflows proves nothing."""
    with np.errstate(all="ignore"):
        yield


def fit(problem, subset):
    """The best model with these features, by its normal equations; its value is without lambda_0."""
    p, columns = len(problem.counted), sorted({*subset, *np.flatnonzero(~problem.counted).tolist()})
    root = np.sqrt(problem.w)
    z = problem.X[:, columns] / problem.spread[columns]
    ridge = np.sqrt(2.0 * problem.lambda_2) * np.eye(len(columns))
    rows = np.block([[z * root[:, None], root[:, None] * problem.fit_intercept], [ridge, np.zeros((len(columns), 1))]])
    found = np.linalg.lstsq(rows, np.r_[root * problem.y, np.zeros(len(columns))], rcond=None)[0]
    beta, intercept = np.zeros(p), found[-1]
    beta[columns] = found[:-1]
    value = 0.5 * problem.w @ (problem.y - z @ found[:-1] - intercept) ** 2 + problem.lambda_2 * beta @ beta
    return SimpleNamespace(value=float(value), beta=beta, intercept=float(intercept))


def draw(seed):
    """A problem of squared error without boxes, often without any penalty, and the best model of every subset it allows."""
    rng = np.random.default_rng([seed, 19])
    n, p = int(rng.integers(15, 31)), int(rng.integers(4, 7))
    X = rng.standard_normal((n, p)) + rng.choice([0.0, 1.5]) * rng.standard_normal((n, 1)) + rng.choice([0.0, 3.0])
    y = X @ (rng.standard_normal(p) * (rng.random(p) < 0.6)) + rng.standard_normal(n)
    w = rng.uniform(0.2, 1.0, n) * (rng.random(n) < 0.9)
    w /= w.sum()
    counted = np.ones(p, dtype=bool)
    counted[0] = seed % 3 != 0
    spread = rng.uniform(0.3, 3.0, p) if seed % 2 else np.ones(p)
    problem = Stated(
        loss=KNOWN["squared_error"],
        lambda_0=float(rng.choice([0.0, 0.05])),
        lambda_1=0.0,
        lambda_2=float(rng.choice([0.0, 0.02])),
        k=int(rng.integers(1, p + 1)),
        home=np.zeros(p, dtype=bool),
        fit_intercept=bool(rng.random() < 0.6),
        X=X,
        y=y,
        w=w,
        spread=spread,
        norm=np.sqrt(w @ (X / spread) ** 2),
        counted=counted,
        low=np.full(p, -np.inf),
        high=np.full(p, np.inf),
    )
    features = np.flatnonzero(counted).tolist()
    subsets = [frozenset(subset) for size in range(problem.k + 1) for subset in combinations(features, size)]
    return rng, problem, {subset: fit(problem, subset) for subset in subsets}


def curvature(problem, columns):
    """Z'WZ of these columns, about their means if there is an intercept."""
    z = problem.X[:, columns] / problem.spread[columns]
    z = z - problem.w @ z / problem.w.sum() if problem.fit_intercept else z
    return (z * problem.w[:, None]).T @ z


def largest(rng, problem, columns):
    """A diagonal that takes nearly all of the curvature in one direction, in random proportions."""
    parts = rng.uniform(0.2, 1.0, len(columns)) * np.diag(curvature(problem, columns))
    units = 1.0 / np.sqrt(parts)
    least = np.linalg.eigvalsh(curvature(problem, columns) * units * units[:, None])[0]
    return (1.0 - 1e-9) * (1.0 - SLACK) * least * parts


def draw_diagonals(rng, problem, fits):
    """Some diagonals, and dual points with models that use them: near their residuals, or far from them."""
    n, p = problem.X.shape
    columns = [np.arange(p), *(np.sort(rng.permutation(p)[: rng.integers(1, p)]) for _ in range(2))]
    values = [largest(rng, problem, each) for each in columns]
    alpha, models = [], []
    for _ in range(16):
        number = int(rng.integers(len(columns)))
        found = list(fits.values())[rng.integers(len(fits))]
        used = np.flatnonzero(np.isin(np.arange(p), columns[number]) & (rng.random(p) < 0.8))
        beta = np.zeros(p)
        beta[used] = rng.choice([found.beta, rng.standard_normal(p)])[used]
        slope = problem.y - (problem.X / problem.spread) @ beta
        slope = slope - problem.w @ slope / problem.w.sum() if problem.fit_intercept else slope
        slope = slope + rng.choice([0.0, 0.001, 0.03, 1.0]) * rng.standard_normal(n)
        alpha.append(rng.standard_normal(n) if rng.random() < 0.1 else slope)
        used = rng.permutation(used)
        models.append(PointModel(number, used, beta[used]))
    return Diagonals(columns, values, models), np.array(alpha)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_diagonal_proves_more_than_the_truth(seed):
    rng, problem, fits = draw(seed)
    diagonals, alpha = draw_diagonals(rng, problem, fits)
    points = list(problem.points_at(alpha, diagonals.models, diagonals))
    proved = 0
    for state, values, _ in nodes_of(rng, problem, fits):
        best, value = min(values.items(), key=lambda each: each[1])
        for point, model in zip(points, diagonals.models, strict=True):
            bound, _ = state.narrow(point, ANY)
            assert bound <= value * (1.0 + 1e-12), (seed, model)
            covered = np.isin(state.index, diagonals.columns[model.diagonal]).all()
            assert covered or bound == -np.inf, (seed, "a diagonal says nothing of other columns")
            proved += np.isfinite(bound)
            kept = state.narrow(point, value * (1.0 + 1e-12))[1]
            assert kept is not None, (seed, "the best model was cut off")
            used = [*best, *np.flatnonzero(~problem.counted)]
            assert np.isin(used, kept.index).all(), seed
            assert np.isin(kept.index[kept.inside], used).all(), seed
            beta = fits[best].beta[kept.index]
            assert (kept.low - 1e-9 <= beta).all(), seed
            assert (beta <= kept.high + 1e-9).all(), seed
    assert proved >= 10, "too few bounds say anything"


def test_a_diagonal_is_enough_where_nothing_else_holds_a_coefficient():
    """At the model that solves the whole problem, the bound is its value; without the diagonal it is minus infinity."""
    for seed in SEEDS:
        rng, problem, _ = draw(seed)
        p = len(problem.counted)
        problem = replace(problem, lambda_0=0.0, lambda_2=0.0, k=p)
        found = fit(problem, range(p))
        slope = problem.y - (problem.X / problem.spread) @ found.beta - found.intercept
        columns = np.arange(p)
        diagonals = Diagonals([columns], [largest(rng, problem, columns)], [PointModel(0, columns, found.beta)])
        with_it, without = (next(problem.points_at(slope[None], *each)) for each in ((diagonals.models, diagonals), ()))
        bound = Region.root(problem).narrow(with_it, ANY)[0]
        assert found.value * (1.0 - 1e-6) <= bound <= found.value * (1.0 + 1e-12), seed
        assert Region.root(problem).narrow(without, ANY)[0] == -np.inf, seed


@pytest.mark.parametrize("seed", range(8))
def test_models_use_only_columns_of_their_diagonal(seed):
    """A column that looks like another, outside of the diagonal, would let a bound rise above the truth."""
    rng, problem, _ = draw(seed)
    x = rng.standard_normal(len(problem.y))
    X = np.column_stack([x, x, np.full(len(x), 2.0)])
    three = {name: getattr(problem, name)[:3] for name in ("home", "counted", "low", "high", "spread")}
    three["spread"] = np.ones(3)
    norm = np.array([1.0, 1.0, 0.0]) * np.sqrt(problem.w @ x**2)
    problem = replace(problem, X=X, y=3.0 * x, norm=norm, k=1, fit_intercept=True, lambda_0=0.0, **three)
    diagonal = largest(rng, problem, np.array([0]))
    state = Region.root(problem).keep(np.array([True, False, False]))

    def bound(columns, coef):
        slope = problem.y - X[:, columns] @ np.array(coef)
        slope -= problem.w @ slope / problem.w.sum()
        diagonals = Diagonals([np.array([0])], [diagonal], [PointModel(0, np.array(columns), np.array(coef))])
        return state.narrow(next(problem.points_at(slope[None], diagonals.models, diagonals)), ANY)[0]

    truth = fit(problem, [0]).value * (1.0 + 1e-12) + 1e-12
    assert bound([0], [3.0]) <= truth
    assert bound([2, 0], [5.0, 1.5]) <= truth  # constant: the intercept takes its place
    with pytest.raises(Refused, match="uses a column that diagonal 0 does not have"):
        bound([1], [1.5])


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_least_eigenvalue_decides(seed, centred, scale):
    """A diagonal just below the curvature is accepted, one just above it is not; so for columns of all sizes."""
    rng = np.random.default_rng([seed, int(centred), 5])
    n, m = int(rng.integers(15, 40)), int(rng.integers(2, 9))
    X = rng.standard_normal((n, m)) + rng.choice([0.0, 1.0]) * rng.standard_normal((n, 1))
    X[:, 0] = X[:, 1] + rng.choice([1e-4, 1e-2, 1.0]) * rng.standard_normal(n)  # alike
    mean = 0.0 if not centred else rng.choice([0.0, 1.0, 100.0])
    w = rng.choice([0.0, 1e-6, 1.0], size=n, p=[0.1, 0.1, 0.8]) * rng.random(n)
    w /= w.sum()
    sizes, spread = scale * rng.uniform(0.1, 10.0, m), rng.uniform(0.1, 10.0, m) * rng.choice([1.0, scale])
    z = (X - w @ X if centred else X) * np.sqrt(w)[:, None]
    units = 1.0 / np.sqrt((z**2).sum(axis=0))
    least = (1.0 - SLACK) * np.linalg.svd(z * units, compute_uv=False)[-1] ** 2
    for off, expected in ((-1e-6, True), (1e-9, False), (-1e-6 * least, None), (1e-6 * least + 1e-12, False)):
        values = (least + off) / units**2 * (sizes / spread) ** 2
        if least + off <= 0.0:
            continue
        shuffled = np.arange(m) if seed % 2 else np.sort(rng.permutation(m + 3)[:m])
        wide = np.zeros((n, m + 3))
        wide[:, shuffled] = (X + mean) * sizes
        spreads = np.ones(m + 3)
        spreads[shuffled] = spread
        found = Float64().leaves_definite(wide, shuffled, values, w, spreads, centred)
        assert expected is None or found == expected, (seed, off, least)


@pytest.mark.parametrize("seed", range(20))
def test_rounding_never_makes_a_diagonal_true(seed):
    """Means of up to 1e9 times the spread, columns that are nearly equal, numbers at the ends of float64: never too much."""
    rng = np.random.default_rng([seed, 7])
    n, m = int(rng.integers(5, 30)), int(rng.integers(2, 6))
    X = rng.standard_normal((n, m)) + 10.0 ** rng.uniform(0.0, 9.0, m)
    if seed % 2:
        X[:, 0] = X[:, 1] * (1.0 + 2.0**-40 * rng.standard_normal(n))
    w = np.full(n, 1.0 / n)
    z = X.astype(np.longdouble)
    z = (z - z.mean(axis=0)) / np.sqrt(np.longdouble(n))
    gram = z.T @ z
    # Not definite: what is taken along this vector is more than there is.
    direction = np.linalg.svd(z.astype(np.float64))[2][-1].astype(np.longdouble)
    there = (1.0 - SLACK) * (direction @ gram @ direction)
    values = (there * (1.0 + 1e-6) / (direction @ direction)).astype(np.float64) * np.ones(m)
    assert not Float64().leaves_definite(X, np.arange(m), values, w, np.ones(m), True), seed


def test_diagonals_of_numbers_out_of_range_are_refused():
    rng = np.random.default_rng(3)
    X, w, one = rng.standard_normal((12, 2)), np.full(12, 1.0 / 12.0), np.ones(2)

    def accepted(X, values, spread=one, centred=True):
        return Float64().leaves_definite(X, np.arange(2), np.asarray(values), w, spread, centred)

    assert accepted(X, [1e-3, 1e-3])
    for scale in (1e-320, 1e-200, 1e-160, 1e160, 1e300):
        assert not accepted(X * scale, [1e-3, 1e-3]) or scale > 1.0
        assert not accepted(X * scale, [1e300, 1e300])
    assert not accepted(X, [1e-3, 1e-3], spread=1e200 * one)
    assert not accepted(X, [np.inf, 1e-3])
    assert not accepted(X, [np.nan, 1e-3])
    assert not accepted(np.column_stack([X[:, 0], np.ones(12)]), [1e-3, 0.0])
    assert not accepted(np.column_stack([X[:, 0], np.ones(12)]), [1e-3, 1e-20])
    assert not accepted(X[:, [0, 0]], [1e-12, 1e-12])


def test_columns_of_models_are_read_in_order(tmp_path):
    """Files in HDF5 give columns in ascending order only; models have them in the order in which the search found them."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 12)) + rng.standard_normal((60, 1))
    y = X[:, ::-3].sum(axis=1) + 3.0 * rng.standard_normal(60)
    certificate = ez.solve(X, y, loss="squared_error", k=4).certificate
    parts = np.split(certificate.arrays["model_columns"], certificate.arrays["model_ends"][:-1])
    assert any((np.diff(part) < 0).any() for part in parts), "no model tells anything"
    with h5py.File(tmp_path / "X.h5", "w") as file:
        report = ez.verify(certificate, file.create_dataset("X", data=X), y)
    assert report.valid, report.reasons
