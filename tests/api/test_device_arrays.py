"""Arrays on a device: accepted wherever X is, with the answers of an array in memory; errors are sentences.

Without a device, arrays of the strict array API library (and of NumPy) stand for those on one: the code is the same.
"""

import sys

import array_api_strict
import numpy as np
import pytest
from scipy import sparse
from support.problems import LOSSES, on_device, on_disk, random_problem, target

import ellzero as ez
from ellzero.base import devices
from ellzero.design import as_design, device_array, device_passes, is_stored
from ellzero.design.store import Moments, Products

X, RESPONSE, WEIGHT = random_problem(1, n=80, p=60)


@pytest.fixture
def everywhere_is_a_device(monkeypatch):
    """Arrays in the memory of the host count as those of a device."""
    monkeypatch.setattr(devices, "HOST", ())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("settings", [{}, {"standardize": True}, {"fit_intercept": False, "lower": -0.5}])
def test_same_models_as_from_memory(loss, settings):
    y, options = target(RESPONSE, loss), {"loss": loss, "lambda_2": 1e-2, "sample_weight": WEIGHT, **settings}
    for algorithm in ("cd", "local_search"):
        there = ez.fit_path(on_device(X), y, algorithm=algorithm, max_support=6, **options)
        here = ez.fit_path(X, y, algorithm=algorithm, max_support=6, **options)
        assert [model.support.tolist() for model in there] == [model.support.tolist() for model in here]
        np.testing.assert_allclose(there.objective, here.objective, rtol=1e-10)
    solution = ez.solve(on_device(X, by_column=True), y, k=3, **options)
    assert solution.support.tolist() == ez.solve(X, y, k=3, **options).support.tolist()
    assert ez.verify(solution.certificate, on_device(X), y).valid
    assert ez.verify(solution.certificate, X, y).valid


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool"])
@pytest.mark.parametrize("by_column", [False, True])
def test_types_and_orders_of_memory(dtype, by_column, monkeypatch):
    monkeypatch.setattr(device_passes, "PART_BYTES", 8 * 80 * 7)  # several parts, and a last one that is smaller
    monkeypatch.setattr(device_array, "ANSWER_BYTES", 8 * 32 * 21)
    values = (X > 0.2 if dtype == "bool" else np.rint(X)).astype(dtype)
    store = on_device(values, by_column)
    assert store.dtype == ("int8" if dtype == "bool" else dtype)
    expected = values.astype(float)
    vectors = np.random.default_rng(0).standard_normal((3, len(X)))
    share = WEIGHT / WEIGHT.sum()
    mean = share @ expected
    answers = dict(store.scan([Products(vectors), Moments(share)]))
    assert sorted(answers) == [0, 21, 42]
    products = np.concatenate([answers[first][0] for first in sorted(answers)], axis=1)
    moments = np.concatenate([answers[first][1] for first in sorted(answers)], axis=1)
    np.testing.assert_allclose(products, vectors @ expected, atol=1e-12)
    np.testing.assert_allclose(moments[:2], [mean, share @ (expected - mean) ** 2], atol=1e-12)
    taken = store.take(np.array([1, 5, 59]))
    assert taken.flags.f_contiguous
    np.testing.assert_array_equal(taken, expected[:, [1, 5, 59]])
    np.testing.assert_array_equal(store[:, 3:8], expected[:, 3:8])


def test_half_precision_is_held_as_float32():
    half = np.asarray(X[:, :8], dtype=np.float16)
    store = ez.DeviceStore(half)
    assert store.dtype == np.float32
    np.testing.assert_array_equal(store[:, :], half.astype(np.float32))


@pytest.mark.usefixtures("everywhere_is_a_device")
def test_the_verifier_reads_columns_of_a_device():
    y = target(RESPONSE, "logistic")
    solution = ez.solve(X, y, k=3, lambda_2=0.05, standardize=True)
    assert ez.verify(solution.certificate, array_api_strict.asarray(X), y).valid
    assert not ez.verify(solution.certificate, array_api_strict.asarray(X + 1e-3), y).valid


@pytest.mark.usefixtures("everywhere_is_a_device")
def test_arrays_are_recognised():
    strict = array_api_strict.asarray(X)
    assert is_stored(strict)
    assert isinstance(as_design(strict).stored(), ez.DeviceStore)
    path = ez.fit_path(strict, target(RESPONSE, "logistic"), max_support=3)
    assert path.objective[-1] == pytest.approx(
        ez.fit_path(X, target(RESPONSE, "logistic"), max_support=3).objective[-1], rel=1e-8
    )


def test_arrays_of_the_host_are_no_device_arrays():
    assert not devices.is_on_device(X)
    assert not devices.is_on_device(array_api_strict.asarray(X))
    assert not devices.is_on_device([[1.0]])


def test_estimators():
    y = np.where(target(RESPONSE, "logistic") > 0, "yes", "no")
    here, there = ez.L0Classifier(k=3).fit(X, y), ez.L0Classifier(k=3).fit(on_device(X), y)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-9)
    np.testing.assert_array_equal(there.predict(on_device(X)), here.predict(X))
    assert there.score(on_device(X), y) == here.score(X, y)
    chosen = ez.L0ClassifierCV(cv=3, max_support=4).fit(on_device(X), y)
    np.testing.assert_allclose(chosen.coef_, ez.L0ClassifierCV(cv=3, max_support=4).fit(X, y).coef_, atol=1e-8)


class OnDevice:
    """An array that comes to the host only when it is told to, as those of CuPy."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __dlpack_device__(self):
        return 2, 1

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def get(self):
        return self.values


def test_labels_and_weights_may_be_anywhere():
    for loss in ("logistic", "squared_error"):
        y, options = target(RESPONSE, loss), {"loss": loss, "lambda_2": 0.05}
        here = ez.solve(X, y, k=2, sample_weight=WEIGHT, **options)
        for there in (X, on_device(X)):
            found = ez.solve(there, OnDevice(y), k=2, sample_weight=OnDevice(WEIGHT), **options)
            assert found.support.tolist() == here.support.tolist()
            assert ez.verify(found.certificate, there, OnDevice(y)).valid
        assert here.model.score(X, OnDevice(y)) == here.model.score(X, y)
    y = target(RESPONSE, "logistic")
    for estimator in (ez.L0Classifier(k=2), ez.L0ClassifierCV(cv=3, max_support=10)):
        here = estimator.fit(X, y, sample_weight=WEIGHT).coef_
        there = estimator.fit(on_device(X), OnDevice(y), sample_weight=OnDevice(WEIGHT)).coef_
        np.testing.assert_allclose(there, here, atol=1e-8)


@pytest.mark.parametrize("source", ["array", "store", "rows"])
def test_to_device(source, monkeypatch):
    monkeypatch.setattr(device_array, "BLOCK_BYTES", 8 * 80 * 7)
    given = {"array": np.asfortranarray(X), "store": on_disk(X), "rows": np.ascontiguousarray(X)}[source]
    seen = []
    moved = ez.to_device(given, "cpu", library="numpy", progress=lambda *report: seen.append(report))
    np.testing.assert_array_equal(moved[:, :], X)
    assert moved.by_column
    assert [fraction for fraction, _, _ in seen] == pytest.approx([min(1.0, 7 * k / 60) for k in range(1, 10)])
    assert ez.to_device(moved) is moved
    assert repr(moved).startswith("DeviceStore: 80 rows, 60 columns, float64, 38.4 kB on ")


def test_names_travel():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"gene {j}" for j in range(60)])
    moved = ez.to_device(frame, "cpu", library="numpy")
    assert as_design(moved).names == list(frame.columns)


def test_too_large_for_the_device(monkeypatch):
    monkeypatch.setattr(device_array, "free_bytes", lambda *_: 20_000)
    with pytest.raises(ez.InvalidInputError, match=r"^X needs 38\.4 kB on cuda, which has 20 kB left\.$"):
        ez.to_device(X, library="numpy")


def test_what_cannot_be_used():
    with pytest.raises(ez.InvalidInputError, match="two dimensions"):
        ez.DeviceStore(array_api_strict.asarray(RESPONSE))
    with pytest.raises(ez.InvalidInputError, match="got complex128"):
        ez.DeviceStore(array_api_strict.asarray(X.astype(complex)))
    with pytest.raises(ez.InvalidInputError, match="X is sparse"):
        ez.to_device(sparse.csc_matrix(X), library="numpy")
    with pytest.raises(ez.InvalidInputError, match="got DataArray"):
        ez.DeviceStore(type("DataArray", (), {})())
    with pytest.raises(ez.InvalidInputError, match=r"^no_such_library is needed"):
        ez.to_device(X, library="no_such_library")


def test_a_library_without_float64_is_refused(monkeypatch):
    monkeypatch.setattr(array_api_strict, "zeros", lambda *_, **__: np.zeros(1, dtype=np.float32))
    with pytest.raises(ez.InvalidInputError, match="jax_enable_x64"):
        ez.DeviceStore(array_api_strict.asarray(X))


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(ez.InvalidInputError, match=r"pip install 'ellzero\[gpu\]'"):
        ez.DeviceStore(array_api_strict.asarray(X))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("CUDA out of memory. Tried to allocate 2 GiB", r"^the device of X \(80 x 60\) is out of memory"),
        ("CUDA error: the launch\ntimed out", r"^X cannot be read from its device: CUDA error: the launch timed out"),
    ],
)
def test_what_libraries_say_is_told_in_a_sentence(said, expected, monkeypatch):
    store = on_device(X)

    def fails(*_, **__):
        raise RuntimeError(said)

    monkeypatch.setattr(store.passes, "products", fails)
    with pytest.raises(ez.InvalidInputError, match=expected):
        ez.fit_path(store, target(RESPONSE, "logistic"))
