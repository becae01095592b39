"""Certificates of problems with several outputs: proofs against enumeration, tampering, hostile headers, and words.

The certificates are made without the solver (support/outputs.py).
"""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from support.outputs import drawn, saved

import ellzero as ez
from ellzero.exact.verifier import digest
from fuzz.certificates.tampering import CATALOGUE
from fuzz.certificates.tampering.outputs import FOREIGN, SHAPE

KINDS = [
    ("multinomial", False),
    ("squared_error", False),
    ("logistic", False),
    ("logistic", True),
    ("squared_hinge", True),
    ("hinge", False),
]
MADE = {}
PLAIN = {"lambda_0": 0.02, "lambda_1": 0.0, "lambda_2": 0.05, "k": 2, "fit_intercept": True, "price": None, "budget": None}
PLAIN |= {"lower": None, "upper": None, "weights": None, "group": None, "unpenalized": []}
GROUP, PRICE = np.array([0, 1, 0, 3, 1]), np.array([1.0, 2.0, 1.0, 1.5, 2.0])
BASES = {
    "classes": ("multinomial", 4, False, PLAIN),
    "targets": ("squared_error", 3, False, PLAIN),
    "labels": ("logistic", 3, False, PLAIN),
    "one against the others": ("squared_hinge", 3, True, PLAIN),
    "priced outputs": ("multinomial", 3, False, {**PLAIN, "group": GROUP, "price": PRICE, "k": None, "budget": 3.0}),
    "outputs without intercept": ("multinomial", 3, False, {**PLAIN, "fit_intercept": False}),
}


def made(name):
    """A problem, and the parts of its certificate; made once."""
    if name not in MADE:
        loss, outputs, one_vs_rest, settings = BASES[name]
        problem = drawn(3, loss, outputs, one_vs_rest, **settings)
        MADE[name] = problem, problem.certificate()
    problem, certificate = MADE[name]
    return problem, dict(certificate.header), {key: np.array(value) for key, value in certificate.arrays.items()}


def check(problem, header, arrays, **options):
    header["digest"] = digest(header, arrays)
    return ez.verify(SimpleNamespace(header=header, arrays=arrays), problem.X, problem.y, **options)


@pytest.mark.parametrize(("loss", "one_vs_rest"), KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_proofs_agree_with_enumeration(loss, one_vs_rest, seed):
    problem = drawn(seed, loss, 3 + seed % 2, one_vs_rest)
    report = ez.verify(problem.certificate(), problem.X, problem.y)
    truth = problem.total(problem.best)
    assert report.valid, report.reasons
    assert report.objective == pytest.approx(truth, rel=1e-10)
    assert truth * (1.0 - 1e-9) < report.lower_bound <= truth
    # With any other model, the same tree proves no more than the truth.
    others = sorted(problem.fits, key=problem.total)[1:3]
    for problem.best in others:
        worse = ez.verify(problem.certificate(), problem.X, problem.y)
        assert worse.lower_bound <= truth * (1.0 + 1e-9)
        assert worse.valid == (problem.total(problem.best) <= truth * (1.0 + 1e-6)), worse.reasons


@pytest.mark.parametrize("name", BASES)
def test_proofs_hold_in_exact_arithmetic(name):
    pytest.importorskip("flint")
    problem, header, arrays = made(name)
    found, exact = (check(problem, header, arrays, arithmetic=each) for each in ("float64", "exact"))
    assert exact.valid, exact.reasons
    assert found.lower_bound <= exact.lower_bound <= found.lower_bound * (1.0 + 1e-9)


@pytest.mark.parametrize("name", BASES)
def test_files_and_other_forms_of_the_data(name, tmp_path):
    pandas = pytest.importorskip("pandas")
    problem, header, arrays = made(name)
    path = saved(SimpleNamespace(header=header, arrays=arrays), tmp_path / "proof.npz")
    expected = check(problem, header, arrays)
    assert expected.valid
    for X in (problem.X, sparse.csr_matrix(problem.X), pandas.DataFrame(problem.X)):
        y = pandas.DataFrame(problem.y) if problem.y.ndim == 2 else pandas.Series(problem.y)
        report = ez.verify(path, X, y)
        assert report.valid, report.reasons
        assert report.lower_bound == pytest.approx(expected.lower_bound, rel=1e-12)


def test_standardised_features_and_rows_without_weight():
    weights = np.ones(24)
    weights[5:9] = 0.0
    weights /= weights.sum()
    plain = drawn(3, "multinomial", 3, **{**PLAIN, "weights": weights})
    means = weights @ plain.X
    spread = np.sqrt(weights @ (plain.X - means) ** 2)
    problem = drawn(3, "multinomial", 3, **{**PLAIN, "weights": weights, "spread": spread})
    report = ez.verify(problem.certificate(), problem.X, problem.y)
    assert report.valid, report.reasons
    assert report.lower_bound == pytest.approx(problem.total(problem.best), rel=1e-9)
    # A label of rows without weight is nobody's business, nor is that of a class that the writer left out.
    y = problem.y.copy()
    y[6] = "another"
    target = problem.target.copy()
    target[:, 6] = 0.0
    other = drawn(3, "multinomial", 3, **{**PLAIN, "weights": weights, "spread": spread})
    other.y, other.target = y, target
    assert ez.verify(other.certificate(), other.X, other.y).valid
    y[0] = "another"
    assert ez.verify(other.certificate(), other.X, y).reasons == ["y is not the target that the certificate was made for."]


def test_a_class_of_rows_without_weight():
    problem = drawn(3, "multinomial", 3, **PLAIN)
    weights = np.where(problem.target[1] > 0.0, 0.0, 1.0)
    problem = drawn(3, "multinomial", 3, **{**PLAIN, "weights": weights / weights.sum()})
    report = ez.verify(problem.certificate(gap_asked=1.0, lower_bound=0.0), problem.X, problem.y)
    assert report.valid, report.reasons
    assert 0.0 < report.lower_bound <= problem.total(problem.best)


def test_swaps():
    problem, header, arrays = made("classes")
    header |= {"swap_size": 1, "k": None}
    arrays["home"] = np.array(sorted(problem.best))
    report = check(problem, header, arrays)
    assert "over swaps" in " ".join(report.reasons)
    near = [fit for fit in problem.fits if len(fit - problem.best) <= 1 and len(problem.best - fit) <= 1]
    assert report.lower_bound <= min(map(problem.total, near))
    assert report.lower_bound > 0.0


OWN = [tampering for tampering in CATALOGUE if tampering.base in BASES]


@pytest.mark.parametrize("tampering", OWN, ids=[tampering.name for tampering in OWN])
def test_tampering_is_told(tampering):
    problem, header, arrays = made(tampering.base)
    assert check(problem, header, arrays).valid
    tampering.change(header, arrays)
    unsigned = ez.verify(SimpleNamespace(header=header, arrays=arrays), problem.X, problem.y)
    assert "the digest does not match" in unsigned.reasons[0]
    report = check(problem, header, arrays)
    assert not report.valid
    assert tampering.reason in " ".join(report.reasons), report.reasons


def test_other_data_is_told():
    problem, header, arrays = made("targets")
    for y in (problem.y[:, ::-1], problem.y + 1e-9):
        assert FOREIGN in ez.verify(SimpleNamespace(header=header, arrays=arrays), problem.X, y).reasons[0]
    for y in (problem.y[:, 0], problem.y[:, :2], problem.y.T, problem.y[None]):
        reason = ez.verify(SimpleNamespace(header=header, arrays=arrays), problem.X, y).reasons[0]
        assert reason == f"y has shape {y.shape}, the certificate is for 24 rows and 3 targets."


@pytest.mark.parametrize("outputs", [0, 1, -3, 10**9, 10**30, "3", True, None, 3.0, [3], {"K": 3}, 1e200])
@pytest.mark.parametrize("name", ["classes", "targets"])
def test_hostile_numbers_of_outputs(name, outputs):
    problem, header, arrays = made(name)
    header["outputs"] = outputs
    report = check(problem, header, arrays)
    assert not report.valid
    assert len(report.reasons) == 1
    known = ("outputs is no usable number", SHAPE, "the multinomial loss has one output only")
    assert any(words in report.reasons[0] for words in known)
    assert len(report.reasons[0]) < 200


@pytest.mark.parametrize("name", ["classes", "targets", "labels", "one against the others"])
def test_outputs_that_y_does_not_have_take_no_memory(name):
    """Arrays that agree with a large number of outputs: what would have p times so many columns is never made."""
    problem, header, arrays = made(name)
    many = 200_000
    arrays |= {"coef": np.zeros((len(arrays["support"]), many)), "intercept": np.zeros(many)}
    none = {each: arrays[each][:0] for each in ("model_ends", "model_columns", "model_values")}
    arrays |= none | {"model_intercept": np.zeros((0, many)), "row": np.full_like(arrays["row"], -1)}
    if "classes" in arrays and name != "labels":
        arrays["classes"] = np.arange(many).astype(str)
    header["outputs"] = many
    (reason,) = check(problem, header, arrays).reasons
    assert "y does not have" in reason or "y has shape" in reason


# Words


def test_the_problem_in_words():
    first = {name: check(*made(name)).problem[0] for name in BASES}
    labels = "'c0', 'c1', 'c2'"
    assert (
        first["classes"]
        == f"multinomial loss of 4 classes, with an intercept for each class; 24 rows, 5 features; {labels}, 'c3'"
    )
    assert first["targets"] == "squared error loss of 3 targets, with an intercept for each target; 24 rows, 5 features"
    assert first["labels"].endswith("24 rows, 5 features; 'no' against 'yes'")
    assert first["labels"].startswith("logistic loss of 3 targets, with an intercept for each target;")
    assert first["one against the others"].startswith(
        "squared hinge loss of 3 classes, each against the others, with an intercept"
    )
    assert first["priced outputs"].startswith(
        "multinomial loss of 3 classes, with an intercept for each class; 24 rows, 5 columns in"
    )
    assert first["outputs without intercept"].startswith("multinomial loss of 3 classes, without an intercept; 24 rows")


def test_the_problem_that_a_reader_expects():
    meant = {"lambda_0": 0.02, "lambda_2": 0.05, "k": 2}
    problem, header, arrays = made("classes")
    assert check(problem, header, arrays, loss="multinomial", **meant).valid
    assert check(problem, header, arrays, **meant).valid, "the loss is not stated"
    assert check(problem, header, arrays, loss="logistic", **meant).reasons == [
        "loss is 'multinomial' in the certificate, not 'logistic' as expected."
    ]
    problem, header, arrays = made("targets")
    assert check(problem, header, arrays, loss="squared_error", **meant).valid
    assert not check(problem, header, arrays, loss="squared_error", **meant, groups=["a", "a", None, None, None]).valid
    problem, header, arrays = made("priced outputs")
    settings = {"loss": "multinomial", "lambda_0": 0.02, "lambda_2": 0.05, "budget": 3.0, "feature_cost": PRICE}
    assert check(problem, header, arrays, **settings, groups=["a", "b", "a", None, "b"]).valid
    assert not check(problem, header, arrays, **settings, groups=["a", "b", "a", "b", None]).valid


# Lists of models


def listed(name):
    problem, _, _ = made(name)
    values = sorted(map(problem.total, problem.fits))
    certificate = problem.certificate(threshold=(values[3] + values[4]) / 2.0)
    return problem, dict(certificate.header), dict(certificate.arrays)


@pytest.mark.parametrize("name", BASES)
def test_lists_of_models(name):
    problem, header, arrays = listed(name)
    report = check(problem, header, arrays)
    assert report.valid, report.reasons
    assert report.models == 4
    assert report.threshold == header["threshold"]


def model_removed(header, arrays):
    first = arrays["listed_ends"][0]
    for name in ("listed_node", "listed_ends", "listed_intercept"):
        arrays[name] = arrays[name][1:]
    arrays["listed_ends"] = arrays["listed_ends"] - first
    for name in ("listed_columns", "listed_coef"):
        arrays[name] = arrays[name][first:]


def outputs_of_models_exchanged(header, arrays):
    arrays["listed_coef"] = 5.0 * arrays["listed_coef"][:, ::-1]


def feature_of_zeros(header, arrays):
    arrays["listed_coef"] = arrays["listed_coef"].copy()
    arrays["listed_coef"][-1] = 0.0


def models_of_one_output(header, arrays):
    arrays["listed_coef"] = arrays["listed_coef"][:, 0].copy()


def intercepts_of_one_output(header, arrays):
    arrays["listed_intercept"] = arrays["listed_intercept"][:, 0].copy()


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (model_removed, "models may be missing from the list"),
        (outputs_of_models_exchanged, "above the threshold"),
        (feature_of_zeros, "has a coefficient of zero"),
        (models_of_one_output, f"listed_coef {SHAPE}"),
        (intercepts_of_one_output, f"listed_intercept {SHAPE}"),
    ],
)
def test_tampering_with_lists_is_told(tamper, reason):
    problem, header, arrays = listed("classes")
    tamper(header, arrays)
    report = check(problem, header, arrays)
    assert not report.valid
    assert reason in " ".join(report.reasons), report.reasons


def test_a_coefficient_may_be_zero_for_some_outputs():
    """With a bound of zero on one side, or with l1, a feature may serve some outputs alone."""
    problem, header, arrays = listed("targets")
    arrays["listed_coef"] = arrays["listed_coef"].copy()
    header["threshold"] *= 2.0
    arrays["listed_coef"][-1, 0] = 0.0
    assert "has a coefficient of zero" not in " ".join(check(problem, header, arrays).reasons)
