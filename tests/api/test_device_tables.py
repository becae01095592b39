"""What is kept for every column on a device: the same tests and rankings as in memory, against formulas written down again."""

import numpy as np
import pytest
from support.problems import PENALTIES, on_device, target

import ellzero as ez
from ellzero.base.devices import on_host
from ellzero.design import device_passes, device_tables
from ellzero.design.device_fused import FusedScreening, FusedSwaps
from ellzero.design.device_tables import ScreeningTable, SwapTable

N, P = 320, 700  # so many rows and columns that screening keeps directions
RNG = np.random.default_rng(5)
X = (RNG.standard_normal((N, P)) + 0.5 * RNG.standard_normal((N, 1))).astype(np.float32).astype(np.float64)
X[:, 17] = 1.5  # a constant column
RESPONSE = X[:, :5].sum(axis=1) + RNG.standard_normal(N)
WEIGHT = RNG.uniform(0.5, 2.0, N)
SHARE = WEIGHT / WEIGHT.sum()
MEAN = SHARE @ X
SCALE = 1.0 / np.maximum(np.sqrt(SHARE @ (X - MEAN) ** 2), 0.1)
SEEN = (X - MEAN) * SCALE  # the columns as the solvers see them
SQUARE = SHARE @ SEEN**2
PRICE = np.where(np.arange(P) % 3 == 0, 0.5, 1.0)


@pytest.fixture
def calls(monkeypatch):
    """The calls of tables, by name."""
    seen = []

    def counted(owner, name):
        real = getattr(owner, name)

        def call(self, *arguments):
            seen.append(name)
            return real(self, *arguments)

        monkeypatch.setattr(owner, name, call)

    for owner in (ScreeningTable, FusedScreening):
        counted(owner, "test")
    for owner in (SwapTable, FusedSwaps):
        counted(owner, "rank")
    return seen


@pytest.mark.parametrize("penalty", ["l0l1l2", "standardized", "unpenalized", "priced", "box", "no_intercept"])
@pytest.mark.parametrize("loss", ["logistic", "squared_error"])
def test_same_paths_as_in_memory(loss, penalty, calls):
    y, options = target(RESPONSE, loss), {"loss": loss, "sample_weight": WEIGHT, "max_support": 8, **PENALTIES[penalty]}
    for algorithm in ("cd", "local_search"):
        here = ez.fit_path(X, y, algorithm=algorithm, **options)
        there = ez.fit_path(on_device(X, by_column=algorithm == "cd"), y, algorithm=algorithm, **options)
        assert [model.support.tolist() for model in there] == [model.support.tolist() for model in here]
        np.testing.assert_allclose(there.objective, here.objective, rtol=1e-9)
        assert there.reads == pytest.approx(here.reads, rel=0.2)
    # Bounds need more numbers for every column than tables keep, and so does the ranking of swaps with unequal prices.
    assert "test" in calls if penalty != "box" else not calls
    assert ("rank" in calls) == (penalty not in ("box", "priced"))


def test_groups_are_screened_by_the_core(calls):
    y, options = target(RESPONSE, "logistic"), {"groups": np.arange(P) // 2, "lambda_2": 1e-2, "max_support": 4}
    for algorithm in ("cd", "local_search"):
        here, there = (ez.fit_path(each, y, algorithm=algorithm, **options) for each in (X, on_device(X)))
        assert [model.support.tolist() for model in there] == [model.support.tolist() for model in here]
    assert not calls


def screening_table(price=None, by_column=True, plain=False):
    """The table that the store makes, or a plain one, which these are without CuPy."""
    store, numbers = on_device(X, by_column), (MEAN, SCALE, SQUARE, price)
    make = ScreeningTable if plain else lambda *arguments: store.screening_table(*arguments[1:])
    return make(store, numbers, 0.01, 0.25, 0.02, 4)


def directions(count):
    """Orthonormal vectors in the weighted space, and what is multiplied with X for them."""
    basis, _ = np.linalg.qr(np.random.default_rng(7).standard_normal((N, count)))
    return basis.T, basis.T * np.sqrt(SHARE)


@pytest.mark.parametrize("per_price", [False, True])
@pytest.mark.parametrize("radius", [0.0, 0.03])
@pytest.mark.parametrize("plain", [False, True])
def test_screening_by_its_formula(radius, per_price, plain):
    table = screening_table(PRICE, plain=plain)
    _, sides = directions(4)
    table.add(sides[:3])
    table.forget(1)
    table.add(sides[3:])
    coefficients = np.array([0.3, -0.2, 0.15])
    table.combine(coefficients)
    kept = sides[[0, 2, 3]] @ SEEN
    np.testing.assert_allclose(on_host(table.centers())[:P], coefficients @ kept, atol=1e-13)
    free = np.maximum(SQUARE - (kept**2).sum(axis=0), 0.0)
    np.testing.assert_allclose(on_host(table.free)[:P], free, atol=1e-12)
    table.extend(0.1)
    center = coefficients @ kept + 0.1 * kept[2]

    reach = radius * np.sqrt(free + 1e-12 * SQUARE)
    half = np.where(SQUARE > 0.0, 0.5 / (0.25 * SQUARE + 0.02), 0.0) / (PRICE if per_price else 1.0)
    least = np.maximum(np.abs(center) - 0.01 - reach, 0.0) ** 2 * half
    most = np.maximum(np.abs(center) - 0.01 + reach, 0.0) ** 2 * half
    inside = np.argsort(-most)[[0, 3, 5]].astype(np.int32)
    outside = np.setdiff1d(np.arange(P), inside)
    r = np.random.default_rng(3).standard_normal((1, N)) / N
    slopes = center if radius == 0.0 else (r @ SEEN)[0]
    for rank, may, must in ((8, 0.0, np.inf), (8, 1e-4, 2e-4), (1, 0.0, np.inf), (5000, 1e-5, 1.0), (8, 1e-3, 1e-3)):
        sure = np.sort(least[outside])[-rank] if rank <= len(outside) else 0.0
        threshold = np.clip(sure * (1.0 - 1e-9), may, must)
        expected = outside[most[outside] > threshold]
        share, columns, found, rest = table.test(radius, per_price, rank, may, must, np.sort(inside), r, 1.0)
        order = np.argsort(columns)
        assert columns[order].tolist() == expected.tolist()
        assert share == pytest.approx(len(expected) / P)
        assert rest == pytest.approx(np.max(most[outside][most[outside] <= threshold], initial=0.0), rel=1e-9)
        np.testing.assert_allclose(found[order], slopes[expected], atol=1e-13)
        # What is more than may be read is counted alone.
        share, columns, found, _ = table.test(radius, per_price, rank, may, must, np.sort(inside), r, 0.9 * share)
        assert (len(columns), len(found)) == ((0, 0) if radius > 0.0 and share > 0.0 else (len(expected), len(expected)))
        assert share == pytest.approx(len(expected) / P)
    # What was inside is asked again once it is not.
    _, columns, _, _ = table.test(radius, per_price, 1, 0.0, np.inf, np.array([], dtype=np.int32), r, 1.0)
    assert int(np.argmax(most)) in columns


@pytest.mark.parametrize("plain", [False, True])
def test_a_forgotten_direction_leaves_centers_alone(plain):
    table = screening_table(plain=plain)
    _, sides = directions(4)
    table.add(sides[:3])
    table.combine(np.array([0.3, -0.2, 0.15]))
    table.forget(1)
    table.add(sides[3:])
    table.extend(0.1)
    center = np.array([0.3, -0.2, 0.15, 0.1]) @ sides @ SEEN
    np.testing.assert_allclose(on_host(table.centers())[:P], center, atol=1e-13)
    _, columns, found, _ = table.test(0.0, False, P, 0.0, np.inf, np.array([], dtype=np.int32), sides[:1], 1.0)
    np.testing.assert_allclose(found, center[columns], atol=1e-13)


@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("count", [0, 3, 50, 600])
def test_slopes_of_some_columns(count, by_column, monkeypatch):
    monkeypatch.setattr(device_passes, "PART_BYTES", 8 * N * 7)
    table = screening_table(by_column=by_column)
    columns = np.sort(np.random.default_rng(count).permutation(P)[:count]).astype(np.int32)
    r = np.random.default_rng(3).standard_normal((1, N))
    np.testing.assert_allclose(table.slopes(columns, r), (r @ SEEN)[0, columns], atol=1e-11)
    table.read(r)
    np.testing.assert_allclose(on_host(table.centers())[:P], (r @ SEEN)[0], atol=1e-11)


@pytest.mark.parametrize("sides", [1, 3, 8, 11, 16, 20])
@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8"])
def test_products_with_any_number_of_vectors(dtype, by_column, sides):
    for rows in (N, N - 1, 33):  # columns that begin at any address
        values = (8.0 * X[:rows]).astype(dtype)
        store = on_device(values, by_column)
        vectors = np.random.default_rng(sides).standard_normal((sides, rows))
        for first, last in ((0, P), (128, P), (5, 6)):
            found = on_host(store.passes.products(store.send(vectors), first, last, 1024))
            np.testing.assert_allclose(found[:, : last - first], vectors @ values[:, first:last].astype(float), atol=1e-10)
            assert not found[:, last - first :].any()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("plain", [False, True])
def test_ranking_of_swaps_by_its_formula(intercept, plain, monkeypatch):
    monkeypatch.setattr(device_tables, "PART_BYTES", 8 * 5 * 300)  # several parts
    store, numbers = on_device(X), (MEAN, SCALE, SQUARE, None)
    table = SwapTable(store, numbers) if plain else store.swap_table(numbers)
    d, r = np.random.default_rng(11).uniform(0.1, 0.3, (2, N)) / N
    table.renew(d[None])
    support, removable, beta = (
        np.array([40, 3, 200, 77], dtype=np.int32),
        np.array([0, 2, 3], dtype=np.int32),
        np.array([1.0, -0.4, 0.2, 0.6]),
    )
    table.add(np.array([9], dtype=np.int32), d[None] * SEEN[:, [9]].T)
    table.add(support[:2], d * SEEN[:, support[:2]].T)
    table.add(support[2:], d * SEEN[:, support[2:]].T)
    table.keep(support)
    assert sorted(table.rows) == sorted(support)
    table.read_slopes(np.stack([d, r - 0.5 * d]))

    scale, ridge, lambda_1 = 1.3, 0.02, 1e-4
    Z = np.column_stack([SEEN[:, support], *([np.ones(N)] if intercept else [])])
    H = scale * Z.T @ (d[:, None] * Z) + ridge * np.diag([1.0] * 4 + [0.0] * intercept)
    lower = np.linalg.cholesky(H)
    variance = np.diag(np.linalg.inv(H))[:4].copy()
    columns, positions, changes = table.rank(
        1, support, removable, beta, variance, lower[np.tril_indices(len(H))], scale, lambda_1, ridge, 1e-5, 64
    )
    cross = scale * Z.T @ (d[:, None] * SEEN)
    u = np.linalg.solve(H, cross)
    left = scale * d @ SEEN**2 + ridge - (cross * u).sum(axis=0)
    slope = (r - 0.5 * d) @ SEEN
    v, b = variance[:, None], beta[:, None]
    pull = np.maximum(np.abs(slope - b * u[:4] / v) - lambda_1, 0.0)
    change = (b**2 / (2.0 * v) - pull**2 / (2.0 * (left + u[:4] ** 2 / v)))[removable]
    change[:, [*support, 17]] = np.inf
    best = np.argsort(change.min(axis=0))[:64]
    assert set(columns[:32].tolist()) <= set(best.tolist())
    assert 17 not in columns
    assert not set(columns.tolist()) & set(support.tolist())
    assert len(columns) == 64
    assert np.all(np.diff(changes) >= 0.0)
    np.testing.assert_allclose(changes, np.sort(change.min(axis=0))[:64], rtol=1e-4)  # products are float32
    assert positions.tolist() == removable[change.argmin(axis=0)[columns]].tolist()


def test_memory_that_ends_in_a_table_is_told(monkeypatch):
    class OutOfMemoryError(MemoryError):
        __module__ = "cupy.cuda.memory"

    def fails(*_, **__):
        raise OutOfMemoryError("Out of memory allocating 8,000,000 bytes")

    table = screening_table(plain=True)
    monkeypatch.setattr(table.xp, "sqrt", fails)
    with pytest.raises(
        ez.InvalidInputError, match=r"^the device of X \(320 x 700\) is out of memory: it needs about 268 MB more"
    ):
        table.test(0.1, False, 1, 0.0, np.inf, np.array([], dtype=np.int32), np.ones((1, N)), 1.0)


def test_ctrl_c_ends_a_fit(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    for owner in (ScreeningTable, FusedScreening):
        monkeypatch.setattr(owner, "test", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ez.fit_path(on_device(X), target(RESPONSE, "logistic"), max_support=3)


def test_a_library_whose_arrays_cannot_change_leaves_screening_to_the_core(monkeypatch, calls):
    monkeypatch.setattr(ez.DeviceStore, "writable", False)
    y = target(RESPONSE, "logistic")
    path = ez.fit_path(on_device(X), y, max_support=3)
    assert not calls
    assert path.objective[-1] == pytest.approx(ez.fit_path(X, y, max_support=3).objective[-1], rel=1e-9)
