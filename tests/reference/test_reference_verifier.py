"""The specification as a program agrees with the verifier, on certificates of every loss, and refuses forgeries."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import ellzero as ez
from ellzero.exact.certificate import save_arrays
from ellzero.exact.verifier import digest

REFERENCE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "reference_verifier.py"))
FORMS = [
    {"lambda_0": 0.03, "lambda_2": 0.03},
    {"k": 2, "lambda_2": 0.05, "fit_intercept": False},
    {"k": 2, "lambda_1": 0.02, "lambda_2": 0.01, "lower": -0.7, "upper": 0.8, "unpenalized": [1]},
]
LOSSES = ["logistic", "squared_hinge", "hinge", "squared_error", "huber"]


def drawn(loss, form, seed=7):
    rng = np.random.default_rng([seed, LOSSES.index(loss), form])
    X = np.round(rng.standard_normal((12, 16)), 2)
    signal = X[:, 0] - X[:, 1] + 0.4 * rng.standard_normal(12)
    y = signal if loss in ("squared_error", "huber") else (signal > 0.0).astype(int)
    return X, y, rng.uniform(0.5, 1.5, 12) if form == 1 else None


def proof(loss, form):
    """A certificate without optional parts: the diagonals of the squared error are taken away, with what they prove."""
    X, y, weights = drawn(loss, form)
    certificate = ez.solve(X, y, loss=loss, sample_weight=weights, **FORMS[form]).certificate
    header, arrays = dict(certificate.header), dict(certificate.arrays)
    if "point_diagonal" in arrays:
        arrays = {name: array for name, array in arrays.items() if not name.startswith(("diagonal", "point_"))}
        header |= {"status": "precision", "lower_bound": 0.0}
    return X, y, header, arrays


def written(path, header, arrays):
    save_arrays(path, {**header, "digest": digest(header, arrays)}, arrays)
    return path


@pytest.mark.parametrize("form", range(len(FORMS)))
@pytest.mark.parametrize("loss", LOSSES)
def test_it_agrees_with_the_verifier(loss, form, tmp_path):
    X, y, header, arrays = proof(loss, form)
    path = written(tmp_path / "proof.npz", header, arrays)
    report = ez.verify(path, X, y)
    objective, bound = REFERENCE["verify"](path, X, y)
    assert report.valid, report.reasons
    assert objective == pytest.approx(report.objective, rel=1e-12)
    assert bound == pytest.approx(report.lower_bound, rel=1e-9)
    # Other dual points, however bad: no verifier derives more than the truth, and both derive the same.
    rng, claim = np.random.default_rng([3, form]), {"status": "precision", "lower_bound": 0.0}
    names = ["alpha"] if loss == "hinge" else ["model_values", "model_intercept"][: 1 + (form != 1)]
    for size in (0.3, 30.0, 1e300):
        forged = {name: rng.standard_normal(arrays[name].shape) * size for name in names}
        path = written(tmp_path / "forged.npz", header | claim, arrays | forged)
        derived, found = REFERENCE["verify"](path, X, y)[1], ez.verify(path, X, y).lower_bound
        assert derived <= objective
        assert derived == pytest.approx(found, rel=1e-8, abs=1e-12), (loss, form, size)


def raised(header, arrays):
    header["lower_bound"] += 1e-6 * header["objective"]


def lowered(header, arrays):
    header["objective"] *= 1.0 - 1e-6


def without_points(header, arrays):
    arrays["row"] = np.full_like(arrays["row"], -1)


def without_a_leaf(header, arrays):
    for name in ("parent", "branch", "side", "row"):
        arrays[name] = arrays[name][:-1]


def model_of_a_column_twice(header, arrays):
    arrays["model_columns"] = np.zeros_like(arrays["model_columns"])


def model_that_is_no_number(header, arrays):
    arrays["model_values"] = np.full_like(arrays["model_values"], np.nan)


def model_of_another_column(header, arrays):
    arrays["model_columns"] = arrays["model_columns"] + header["p"]


def another_weight(header, arrays):
    arrays["weights"] = np.full(header["n"], 0.5)


FORGERIES = [raised, lowered, without_points, without_a_leaf, another_weight]
FORGERIES += [model_of_a_column_twice, model_that_is_no_number, model_of_another_column]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda each: each.__name__)
def test_it_refuses_forgeries(forge, tmp_path):
    X, y, header, arrays = proof("logistic", 0)
    header = json.loads(json.dumps(header))
    forge(header, arrays)
    path = written(tmp_path / "forged.npz", header, arrays)
    assert not ez.verify(path, X, y).valid
    with pytest.raises(REFERENCE["Refused"]):
        REFERENCE["verify"](path, X, y)


def test_it_refuses_other_data_and_damage(tmp_path):
    X, y, header, arrays = proof("huber", 0)
    path = written(tmp_path / "proof.npz", header, arrays)
    for other in ((X + 1e-9, y), (X, y + 1e-9)):
        with pytest.raises(REFERENCE["Refused"], match="other data"):
            REFERENCE["verify"](path, *other)
    save_arrays(path, header, arrays | {"coef": arrays["coef"] + 1e-9})
    with pytest.raises(REFERENCE["Refused"], match="digest"):
        REFERENCE["verify"](path, X, y)
