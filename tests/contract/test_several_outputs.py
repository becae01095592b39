"""Several classes and several targets: the same model from every storage of X, and on any number of threads."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ellzero as ez

pytestmark = pytest.mark.filterwarnings("ignore::ellzero.FragileModelWarning")
WAYS = ("multinomial", "ovr_shared", "ovr")


@pytest.mark.parametrize("multi_class", WAYS)
@pytest.mark.parametrize("kind", [ez.L0Classifier, ez.L0ClassifierCV])
def test_threads_do_not_matter(kind, multi_class):
    rng = np.random.default_rng(10)
    X = rng.standard_normal((150, 12)) + 0.6 * rng.standard_normal((150, 1))
    y = (2.0 * X[:, [0, 4, 8]] + rng.gumbel(size=(150, 3))).argmax(axis=1)
    settings = {"multi_class": multi_class, "max_support": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        one, two = (kind(**settings, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


@pytest.mark.parametrize("multi_class", WAYS)
def test_every_storage_has_the_same_model(multi_class, tmp_path):
    rng = np.random.default_rng(11)
    X = rng.integers(-3, 4, (120, 10)).astype(np.int8)
    X[rng.random(X.shape) < 0.5] = 0
    y = (X[:, [0, 3, 6]] + rng.gumbel(size=(120, 3))).argmax(axis=1)
    with ez.ColumnWriter(tmp_path / "store", 120, 10, dtype="int8") as writer:
        writer.append(X)
    dask = pytest.importorskip("dask.array")
    forms = {
        "float64": X.astype(np.float64),
        "float32": X.astype(np.float32),
        "int8": X,
        "csc": sparse.csc_matrix(X.astype(np.float64)),
        "csr": sparse.csr_matrix(X.astype(np.float32)),
        "frame": pd.DataFrame(X.astype(np.float64), columns=list("abcdefghij")),
        "store": ez.open_columns(tmp_path / "store"),
        "dask": dask.from_array(X.astype(np.float64), chunks=(40, 10)),
    }
    for settings in ({"k": 3}, {"cv": 3, "shrinkage": [1e-2], "max_support": 4}):
        kind = ez.L0Classifier if "k" in settings else ez.L0ClassifierCV
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            models = {name: kind(multi_class=multi_class, **settings).fit(form, y) for name, form in forms.items()}
        for name, model in models.items():
            np.testing.assert_allclose(model.coef_, models["float64"].coef_, rtol=1e-5, atol=1e-8, err_msg=name)
            np.testing.assert_allclose(model.predict_proba(forms[name]), models["float64"].predict_proba(X), atol=1e-6)


def test_targets_in_every_storage(tmp_path):
    rng = np.random.default_rng(32)
    X = rng.standard_normal((120, 15)) + 0.5 * rng.standard_normal((120, 1))
    Y = X[:, [1, 6, 11]] + 0.3 * rng.standard_normal((120, 3)) + np.array([5.0, 0.0, -100.0])
    with ez.ColumnWriter(tmp_path / "store", *X.shape, dtype="float64") as writer:
        writer.append(X)
    expected = ez.L0Regressor(k=3).fit(X, Y)
    for form in (sparse.csc_matrix(X), pd.DataFrame(X), ez.open_columns(tmp_path / "store")):
        model = ez.L0Regressor(k=3).fit(form, pd.DataFrame(Y, columns=list("abc")))
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(model.predict(form), expected.predict(X), rtol=1e-6)
