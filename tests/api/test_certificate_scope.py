"""What a certificate is about: only what its header asks for counts, and a report says it in words; a reader states his own."""

import types

import numpy as np
import pandas as pd
import pytest
from support.certificates import WEIGHT, X, Y, base, check

import ellzero as ez
from ellzero.exact.verifier import digest

N, P = X.shape
LABELS = np.where(Y == 1, 1.0, -1.0)


def null_model(header, arrays, weights=None, **more):
    """Turn parts into a claim that the model without features is the best, with its own dual point as the only proof."""
    w = np.full(N, 1.0 / N) if weights is None else weights
    share = w[LABELS > 0].sum()
    b = np.log(share / (1.0 - share))
    value = float(w @ np.logaddexp(0.0, -LABELS * b))
    one = {"parent": -1, "branch": -1, "side": 0, "row": 0}
    for name in ("model_scale", "lower", "upper", "weights"):
        arrays.pop(name, None)
    arrays.update({name: np.array([entry]) for name, entry in one.items()})
    arrays.update(
        model_ends=np.zeros(1, int), model_columns=np.zeros(0, int), model_values=np.zeros(0), model_intercept=np.array([b])
    )
    arrays.update(support=np.zeros(0, np.int64), coef=np.zeros(0), intercept=np.array(b), **more)
    if weights is not None:
        arrays["weights"] = weights
    header.update(objective=value, lower_bound=value, status="optimal", k=None)
    return header, arrays


def test_an_array_that_nothing_asks_for_is_refused():
    for name, value in (("spread", np.full(P, 1e100)), ("home", np.zeros(0, np.int64)), ("notes", np.zeros(3))):
        _, header, arrays = base("weighted box")
        header, arrays = null_model(header, arrays, **{name: value})
        report = check(header, arrays)
        assert not report.valid
        assert report.reasons == [f"an array has no use in this certificate: '{name}'."]


def test_a_header_entry_that_nothing_asks_for_is_refused():
    _, header, arrays = base("weighted box")
    header["comment"] = "\x1b[2J"
    assert check(header, arrays).reasons == ["the header has an entry that is not part of the format: 'comment'."]


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ({"lambda_1": 0.0, "lambda_2": 1e-310}, {}),
        ({"lambda_1": 0.0, "lambda_2": 5e-324}, {}),
        ({"lambda_1": 1e-155, "lambda_2": 0.0}, {}),
        ({"lambda_1": 0.0, "lambda_2": 0.0}, {"lower": np.full(P, -1e200), "upper": np.full(P, 1e200)}),
        ({"lambda_1": 0.0, "lambda_2": 0.0, "bound": 1e200}, {}),
    ],
)
@pytest.mark.parametrize("arithmetic", ["float64", "exact"])
def test_a_feature_whose_gain_overflows_is_not_forgotten(settings, more, arithmetic):
    solution, header, arrays = base("weighted box")
    header, arrays = null_model(header, arrays, **more)
    header.update(settings)
    header["digest"] = digest(header, arrays)
    report = ez.verify(types.SimpleNamespace(header=header, arrays=arrays), X, Y, arithmetic=arithmetic)
    assert not report.valid
    better = ez.objective(X, Y, solution.coef, solution.intercept, lambda_0=header["lambda_0"])
    assert report.lower_bound <= better < header["objective"]


def test_types_beyond_float64_are_refused():
    for name, kind in (
        ("model_values", np.longdouble),
        ("model_values", np.float32),
        ("coef", np.longdouble),
        ("coef", np.float16),
    ):
        _, header, arrays = base("weighted box")
        arrays[name] = arrays[name].astype(kind)
        report = check(header, arrays)
        assert not report.valid
        assert f"{name} has the wrong shape" in report.reasons[0]


def test_text_of_a_file_is_never_printed_raw():
    evil = "none).\x1b[2J\x1b[HCertificate: valid\n  gap          0.000e+00\u202e"
    for name in ("status", "loss", "storage", "prover", "version", "format", "k", "outputs", evil):
        _, header, arrays = base("weighted box")
        header[name] = evil
        text = str(check(header, arrays))
        assert text.startswith("Certificate: NOT VALID")
        assert all(character.isprintable() or character == "\n" for character in text), name
        assert len(text) < 400
    _, header, arrays = base("weighted box")
    names = np.where(Y == 1, evil, "other")
    arrays["classes"] = np.array(["other", evil])
    report = check(header, arrays, y=names)
    assert report.valid, report.reasons
    assert all(character.isprintable() or character == "\n" for character in str(report))
    arrays["classes"] = np.array(["other", "x" * 100_000])
    assert "classes has the wrong shape" in check(header, arrays).reasons[0]


def test_report_says_what_was_proved():
    _, header, arrays = base("weighted box")
    report = check(header, arrays)
    text = " ".join(report.problem)
    assert "logistic loss, with an intercept; 60 rows, 20 features; -1 against 1" in text
    assert "at most 4 features, lambda_0 = 0.01 for each feature, lambda_2 = 0.01 times beta^2" in text
    assert "coefficients are bounded for 20 of 20 features: lower bounds -0.6 to -0.6, upper bounds 0.6 to 0.6" in text
    assert f"rows have weights, from {arrays['weights'].min():.6g} to {arrays['weights'].max():.6g}" in text
    assert all(line in str(report) for line in report.problem)
    _, header, arrays = base("standardized")
    text = " ".join(check(header, arrays).problem)
    assert "beta on the scale of standardised features" in text
    assert "always allowed, without lambda_0: features 2" in text


def test_report_shows_a_box_and_weights_that_make_the_claim_empty():
    two = np.zeros(N)
    two[[int(np.argmax(LABELS > 0)), int(np.argmax(LABELS < 0))]] = 0.5
    _, header, arrays = base("truncated")
    nothing = {"lower": np.zeros(P), "upper": np.zeros(P)}
    report = check(*null_model(header, arrays, weights=two, **nothing))
    assert report.valid, report.reasons  # true, of a problem that nobody means
    text = " ".join(report.problem)
    assert "coefficients are fixed at zero, that is not allowed in a model, for 20 of 20 features" in text
    assert "rows have weights, from 0 to 0.5; 58 rows of 60 without any" in text
    parts = types.SimpleNamespace(header=header, arrays=arrays)
    stated = {"lambda_0": header["lambda_0"], "lambda_2": header["lambda_2"]}
    assert ez.verify(parts, X, Y, **stated).valid, "what nobody states is not compared"
    meant = ez.verify(parts, X, Y, **stated, lower=None, upper=None, sample_weight=None)
    assert not meant.valid
    assert meant.verdict == "about another problem"
    assert [reason.split()[0] for reason in meant.differences] == ["lower", "upper", "sample_weight"]


MEANT = {
    "weighted box": {"lambda_0": 0.01, "k": 4, "lambda_2": 0.01, "sample_weight": WEIGHT, "lower": -0.6, "upper": 0.6},
    "standardized": {"lambda_0": 0.01, "k": 4, "lambda_2": 0.01, "standardize": True, "unpenalized": [2]},
    "conditional": {"lambda_0": 0.01, "k": 4, "bound": 1.0},
}
OTHER = {
    "loss": "hinge",
    "lambda_0": 0.02,
    "k": 5,
    "lambda_1": 0.1,
    "lambda_2": 0.011,
    "fit_intercept": False,
    "sample_weight": WEIGHT + 0.01,
    "lower": -0.7,
    "upper": np.linspace(0.5, 0.6, P),
    "unpenalized": [3],
    "swap_size": 2,
    "bound": 2.0,
}


@pytest.mark.parametrize("name", MEANT)
def test_reader_states_the_problem_that_he_means(name):
    solution, _, _ = base(name)
    assert ez.verify(solution.certificate, X, Y, **MEANT[name]).valid
    assert ez.verify(solution.certificate, X, Y, expect=MEANT[name]).valid
    for setting, value in OTHER.items():
        report = ez.verify(solution.certificate, X, Y, **{**MEANT[name], setting: value})
        assert not report.valid, setting
        assert report.verdict == "about another problem"
        assert "ABOUT ANOTHER PROBLEM" in str(report)
        assert any(reason.startswith(f"{setting} is ") for reason in report.differences), setting
        assert np.isfinite(report.lower_bound), "what the file proves is said all the same"
    for setting in MEANT[name]:
        report = ez.verify(solution.certificate, X, Y, **{k: v for k, v in MEANT[name].items() if k != setting})
        assert report.valid == (setting != "bound"), f"{setting}: only what is stated is compared, but for what a proof assumes"
    assert ez.verify(solution.certificate, X, Y, expect={}).valid


def test_reader_states_a_gap():
    certificate = ez.solve(X, Y, lambda_0=0.01, lambda_2=0.01, gap=0.5).certificate
    report = ez.verify(certificate, X, Y)
    assert report.valid
    assert 1e-4 < report.gap <= 0.5
    assert ez.verify(certificate, X, Y, lambda_0=0.01).verdict == "about another problem", "the gap has its default"
    assert ez.verify(certificate, X, Y, lambda_0=0.01, gap=0.5).valid
    assert ez.verify(certificate, X, Y, gap=1e-3).differences == [f"the proved gap is {report.gap:.6g}, not 0.001 as expected."]


def test_reader_names_features_by_their_columns():
    solution, _, _ = base("standardized")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)])
    settings = {**MEANT["standardized"], "unpenalized": ["x2"]}
    assert ez.verify(solution.certificate, frame, Y, **settings).valid
    assert not ez.verify(solution.certificate, frame, Y, **{**settings, "unpenalized": ["x3"]}).valid
    with pytest.raises(ez.InvalidInputError, match="unpenalized names a feature that X does not have: 'x99'"):
        ez.verify(solution.certificate, frame, Y, **{**settings, "unpenalized": ["x99"]})


@pytest.mark.parametrize(
    "setting",
    [{"unpenalized": [0, 1]}, {"unpenalized": [-1]}, {"feature_cost": {np.int64(0): 5.0}}, {"groups": {"a": [0, 1]}}],
    ids=str,
)
def test_an_integer_is_a_place_whatever_the_columns_are_called(setting):
    frame = pd.DataFrame(X[:, :3], columns=[2, 1, 0])
    meant = {"lambda_0": 0.05, "lambda_2": 0.01, "loss": "squared_error", **setting}
    y = X[:, 0] - X[:, 2]
    certificate = ez.solve(frame, y, **meant).certificate
    assert ez.verify(certificate, frame, y, **meant).valid
    assert ez.verify(certificate, X[:, :3], y, **meant).valid, "names that are not text are no names"


def test_a_store_is_asked_for_its_names(tmp_path):
    with ez.ColumnWriter(tmp_path / "x.columns", *X.shape, dtype="float64", names=[f"x{j}" for j in range(P)]) as writer:
        writer.append(X)
    store = ez.open_columns(tmp_path / "x.columns")
    settings = {**MEANT["standardized"], "unpenalized": ["x2"]}
    assert ez.verify(ez.solve(store, Y, **settings).certificate, store, Y, **settings).valid


def test_arguments_of_verify_are_checked():
    solution, _, _ = base("weighted box")
    with pytest.raises(ez.InvalidInputError, match="arithmetic must be 'float64' or 'exact', got 'quick'"):
        ez.verify(solution.certificate, X, Y, arithmetic="quick")
    with pytest.raises(ez.InvalidInputError, match="verify compares settings of the problem"):
        ez.verify(solution.certificate, X, Y, n_jobs=2)
    with pytest.raises(ez.InvalidInputError, match="lower must be a number or 20 numbers"):
        ez.verify(solution.certificate, X, Y, lower=[0.0, 1.0])


def test_units_of_the_response_do_not_matter():
    few = X[:16]  # with more rows than columns the root alone would prove it
    response = few[:, :3] @ [1.0, -1.0, 0.5] + 0.3 * np.random.default_rng(0).standard_normal(len(few))
    for unit in (1.0, 2.0**-40, 2.0**-120, 2.0**60):
        y = response * unit
        made = ez.solve(few, y, loss="squared_error", k=2, lambda_2=0.001, node_limit=1, gap=1e-9).certificate
        header, arrays = dict(made.header), dict(made.arrays)
        report = check(header, arrays, few, y)
        header.update(status="optimal", gap_asked=1e-4, lower_bound=header["objective"])
        forged = check(header, arrays, few, y)
        assert not forged.valid
        assert forged.gap == report.gap > 0.01
