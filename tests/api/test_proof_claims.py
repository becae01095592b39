"""What stands above the bounds of a proof: scales, lists, gaps, assumptions, data and limits. No claim rests on itself."""

import types

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ellzero as ez
from ellzero.exact.verifier import digest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))
Y = X[:, 0] - 2 * X[:, 3] + 0.1 * RNG.normal(size=40)
MEANT = {"k": 2, "loss": "squared_error", "lambda_2": 0.01}
NOTHING = np.zeros(0, dtype=np.int64)
TREE = ("diagonal", "form_", "gram_", "rest_", "enumerated", "model_", "point_", "growth", "alpha", "listed", "redundant")


def parts(certificate):
    return dict(certificate.header), {name: np.array(array) for name, array in certificate.arrays.items()}


def without_proof(certificate, **intercept):
    """Take a certificate apart, with one leaf that nothing is proved of, and a model of an intercept alone."""
    header, arrays = parts(certificate)
    for name in [name for name in arrays if name.startswith(TREE)]:
        del arrays[name]
    one = {name: np.array([-1]) for name in ("parent", "branch", "row")}
    arrays |= one | {"side": np.array([0]), "block_members": NOTHING, "block_ends": NOTHING}
    if header["loss"] == "hinge":
        arrays["alpha"] = np.zeros((0, len(Y)))
    else:
        arrays |= {"model_ends": NOTHING, "model_columns": NOTHING, "model_values": np.zeros(0), "model_intercept": np.zeros(0)}
    arrays |= {"support": NOTHING, "coef": np.zeros(0)}
    return header, arrays | {name: np.array(value) for name, value in intercept.items()}


def check(header, arrays, x=X, y=Y, **more):
    sealed = {name: value for name, value in header.items() if name != "digest"}
    sealed["digest"] = digest(sealed, arrays)
    return ez.verify(types.SimpleNamespace(header=sealed, arrays=arrays), x, y, **more)


def half_square(y, b):
    return float(np.mean((y - b) ** 2) / 2)


@pytest.mark.parametrize("arithmetic", ["float64", "exact"])
def test_a_bad_solution_makes_nothing_negligible(arithmetic):
    listed = ez.alternatives(X, Y, within=0.5, **MEANT)
    header, arrays = without_proof(listed.certificate, intercept=1e4)
    worst = half_square(Y, 1e4)
    threshold = worst * (1.05 + 1e-8)
    header |= {"objective": worst, "within": 0.05, "threshold": threshold, "lower_bound": threshold, "status": "complete"}
    arrays |= {"listed_node": np.array([0]), "listed_ends": np.array([0]), "listed_columns": NOTHING}
    arrays |= {"listed_coef": np.zeros(0), "listed_intercept": np.array([float(Y.mean())])}
    arrays |= {"redundant_node": NOTHING, "redundant_to": NOTHING}
    report = check(header, arrays, arithmetic=arithmetic)
    assert report.verdict == "not valid"
    assert "the leaf of model 0 of the list holds other models." in report.reasons
    assert "a model of the list is better than the solution." in report.reasons


@pytest.mark.parametrize("arithmetic", ["float64", "exact"])
def test_a_claim_is_not_above_what_is_proved(arithmetic):
    header, arrays = without_proof(ez.solve(X, Y, **MEANT).certificate, intercept=1e6)
    header |= {"objective": half_square(Y, 1e6), "lower_bound": 400.0, "status": "time_limit"}
    report = check(header, arrays, arithmetic=arithmetic)
    assert not report.valid
    assert report.lower_bound == 0.0


def test_a_gap_is_the_reader_s():
    header, arrays = without_proof(ez.solve(X, Y, **MEANT).certificate, intercept=0.0)
    header |= {"objective": half_square(Y, 0.0), "lower_bound": 0.0, "status": "optimal", "gap_asked": 1e300}
    assert check(header, arrays).gap > 1.0, "the report says what is proved"
    assert check(header, arrays, **MEANT).verdict == "about another problem"


def test_a_list_allows_no_gap():
    listed = ez.alternatives(X, Y, within=40.0, **MEANT)
    header, arrays = parts(listed.certificate)
    end = int(arrays["listed_ends"][0])
    for name, cut in (("listed_node", 1), ("listed_intercept", 1), ("listed_columns", end), ("listed_coef", end)):
        arrays[name] = arrays[name][cut:]
    arrays["listed_ends"] = arrays["listed_ends"][1:] - end
    arrays["redundant_node"] = arrays["redundant_to"] = NOTHING
    assert not check(header | {"gap_asked": 1e3, "lower_bound": 0.0}, arrays).valid
    assert "models may be missing" in check(header, arrays).reasons[0]


def test_an_assumed_bound_is_another_problem_unless_it_is_stated():
    certificate = ez.solve(X, Y, bound=1e-6, **MEANT).certificate
    report = ez.verify(certificate, X, Y, **MEANT)
    assert report.verdict == "about another problem"
    assert report.differences == ["bound is 1e-06 in the certificate, not None as expected."]
    assert ez.verify(certificate, X, Y, bound=1e-6, **MEANT).valid
    assert ez.verify(certificate, X, Y).conditional


@pytest.mark.parametrize("loss", ["multinomial", "logistic", "squared_error", "hinge"])
@pytest.mark.parametrize("bound", [0.3, None])
def test_lists_of_searches_that_hardly_began_are_valid(loss, bound):
    for seed, limit in ((0, 0), (1, 0), (2, 1), (3, 3)):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(15, 4))
        z = x @ rng.normal(size=4)
        y = z if loss == "squared_error" else (z > 0).astype(int)
        found = ez.alternatives(x, y, k=2, loss=loss, lambda_2=0.01, node_limit=limit, bound=bound, n_best=2)
        report = ez.verify(found.certificate, x, y)
        assert report.valid, (seed, report.reasons)


def test_a_row_without_weight_counts_nowhere():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 3)) * 1e-20
    y = x[:, 0] * 1e20 + 0.3 * rng.normal(size=30)
    x[0] = 1e150
    meant = {"k": 1, "loss": "squared_error", "lambda_2": 0.01, "standardize": True}
    solution = ez.solve(x, y, sample_weight=np.r_[0.0, np.ones(29)], **meant)
    assert solution.objective == pytest.approx(ez.solve(x[1:], y[1:], **meant).objective, rel=1e-9)
    assert ez.verify(solution.certificate, x, y).valid


def test_spreads_do_not_depend_on_the_sum_of_weights():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 2))
    x[:, 1] = np.round(x[:, 1] * 8) / 8 + 1e8
    y = x[:, 0] + x[:, 1] - 1e8 + rng.normal(size=64)
    certificate = ez.solve(x, y, k=1, loss="squared_error", lambda_2=0.01, standardize=True).certificate
    header, arrays = parts(certificate)
    w = np.full(64, (1.0 + 0.99e-9) / 64)
    wrong = np.abs(x).max(axis=0) * np.sqrt(w @ (x / np.abs(x).max(axis=0) - w @ (x / np.abs(x).max(axis=0))) ** 2)
    report = check(header, arrays | {"weights": w, "spread": wrong}, x, y)
    assert report.reasons == ["spread is not that of the data (first at 1)."]


@pytest.mark.parametrize(
    "other",
    [
        X + 1j,
        np.ma.masked_array(X, mask=X > 1.0),
        X.astype(str),
        pd.DataFrame(X + 1j),
    ],
    ids=["complex", "masked", "text", "complex frame"],
)
def test_data_lose_no_part_silently(other):
    report = ez.verify(ez.solve(X, Y, **MEANT).certificate, other, Y)
    assert not report.valid
    assert report.reasons[0].startswith("X or y cannot be read as numbers: X ")


def test_small_integers_do_not_overflow_where_duplicates_are_summed():
    x = sparse.coo_matrix((np.array([100, 100, 1, 3], np.int8), ([0, 0, 1, 2], [0, 0, 1, 2])), shape=(20, 3))
    y = np.arange(20) % 2
    certificate = ez.solve(x, y, k=1, lambda_2=0.01).certificate
    assert ez.verify(certificate, x, y).valid
    assert ez.verify(certificate, sparse.csc_matrix(x.astype(float)), y).valid


def test_a_tree_that_says_nothing_is_not_walked():
    solution = ez.solve(X, Y, **MEANT)
    for row, reason in ((-1, "says nothing has children"), (0, "share a dual point")):
        header, arrays = without_proof(solution.certificate)
        chain = np.arange(-1, 49_999)
        arrays |= {"parent": chain, "branch": np.full(50_000, -1), "side": np.zeros(50_000, int), "row": np.full(50_000, row)}
        arrays |= {"model_ends": np.zeros(1, int), "model_intercept": np.zeros(1)}
        assert reason in check(header | {"lower_bound": 0.0, "status": "time_limit"}, arrays).reasons[0]


@pytest.mark.parametrize("more", [{"n_best": 2}, {"n_best": 2, "node_limit": 0}, {"within": 0.1}], ids=str)
@pytest.mark.parametrize("limit", [{"lambda_0": 0.1}, {"k": 2}], ids=str)
def test_a_constant_target(limit, more):
    y = np.full(6, 2.0)
    found = ez.alternatives(X[:6, :3], y, loss="squared_error", lambda_2=0.1, **limit, **more)
    assert ez.verify(found.certificate, X[:6, :3], y).valid


@pytest.mark.parametrize(
    "settings",
    [
        {"lambda_0": 1e300, "lambda_2": 0.1},
        {"k": 1, "lambda_2": 1e300},
        {"k": 1, "lambda_1": 1e300},
        {"k": 1, "bound": 1e300},
        {"k": 1, "lambda_2": 0.1, "gap": 1e300},
        {"budget": 1e300, "lambda_2": 0.1},
        {"budget": 1e300, "feature_cost": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "lambda_2": 0.1},
        {"budget": 1e20, "feature_cost": [2.0] * 6, "lambda_2": 0.1},
    ],
    ids=str,
)
def test_what_solve_accepts_a_file_can_say(settings, tmp_path):
    certificate = ez.solve(X, Y, loss="squared_error", **settings).certificate
    certificate.save(tmp_path / "proof.npz")
    assert ez.verify(tmp_path / "proof.npz", X, Y).valid


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_a_heuristic_bound_is_a_number(tmp_path):
    certificate = ez.solve(X * 5e-324, Y > 0, k=0, loss="squared_hinge", lambda_2=0.1, bound="heuristic").certificate
    certificate.save(tmp_path / "proof.npz")
    assert ez.verify(tmp_path / "proof.npz", X * 5e-324, Y > 0).valid


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value", "ignore:divide by zero")
def test_a_search_in_which_nothing_is_a_number_ends():
    x, y = np.array([[5e-324, 0.0], [0.0, 0.0]]), np.array([3.6e-101, 5.3e-101])
    with pytest.raises(ez.InvalidInputError, match="lambda_0 is beyond float64 in units of the data"):
        ez.alternatives(x, y, loss="squared_error", fit_intercept=False, lambda_0=1e200, lambda_1=1e10)
    found = ez.alternatives(x, y, loss="squared_error", fit_intercept=False, lambda_0=0.1, lambda_1=0.1, n_best=5)
    assert ez.verify(found.certificate, x, y).valid


@pytest.mark.parametrize("power", [5, 7, 8, 9, 10])
@pytest.mark.parametrize("loss", ["squared_error", "logistic"])
def test_columns_far_from_zero(power, loss):
    """Where rounding leaves no digits, the status says so; what is claimed is proved all the same."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 4)) + 10.0**power
    z = (x - 10.0**power) @ [1, -1, 0.5, 0] + rng.normal(size=20)
    y = z if loss == "squared_error" else (z > 0).astype(int)
    for standardize in (True, False):
        for fit_intercept in (True, False):
            meant = {"k": 2, "lambda_2": 0.01, "loss": loss, "standardize": standardize, "fit_intercept": fit_intercept}
            assert ez.verify(ez.solve(x, y, **meant).certificate, x, y).valid
            report = ez.verify(ez.alternatives(x, y, within=0.1, **meant).certificate, x, y)
            assert report.valid, report.reasons
