"""A certificate that was tampered with is told, by its checksum and, where that was made anew, by what it no longer proves."""

import io
import json
import types
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from problems import random_problem, target
from scipy import sparse

import ellzero as ez
from ellzero.exact.verifier import digest

X, RESPONSE, WEIGHT = random_problem(7, n=60, p=20, density=0.8)
Y = target(RESPONSE, "logistic")
PLAIN = {"loss": "logistic", "lambda_0": 0.01, "k": 4, "lambda_2": 0.01, "gap": 1e-5, "n_jobs": 1}
BASES = {
    "large tree": {**PLAIN, "k": None, "sample_weight": WEIGHT, "lower": -0.6, "upper": 0.6},
    "weighted box": {**PLAIN, "sample_weight": WEIGHT, "lower": -0.6, "upper": 0.6},
    "standardized": {**PLAIN, "standardize": True, "unpenalized": [2]},
    "conditional": {**PLAIN, "lambda_2": 0.0, "bound": 1.0},
    "truncated": {**PLAIN, "k": None, "lambda_0": 0.005, "node_limit": 5},
}
SOLVED = {}


def base(name):
    """The solution and a copy of the certificate's parts; solved once."""
    if name not in SOLVED:
        SOLVED[name] = ez.solve(X, Y, **BASES[name])
    sol = SOLVED[name]
    return sol, dict(sol.certificate.header), {key: np.array(value) for key, value in sol.certificate.arrays.items()}


def check(header, arrays, X=X, y=Y, sign=True):
    if sign:
        header["digest"] = digest(header, arrays)
    return ez.verify(types.SimpleNamespace(header=header, arrays=arrays), X, y)


def leaves_of(arrays):
    return np.setdiff1d(np.arange(len(arrays["parent"])), arrays["parent"])


def points_of_leaves(arrays):
    rows = arrays["row"][leaves_of(arrays)]
    return rows[rows >= 0]


# Tampering: each function changes a certificate's parts -----------------------------------------------------------------


def scaled_points(header, arrays):
    arrays["alpha"] *= np.float32(0.7)


def no_points_at_leaves(header, arrays):
    arrays["alpha"][points_of_leaves(arrays)] = 0.0


def other_points(header, arrays):
    arrays["alpha"] = np.random.default_rng(0).random(arrays["alpha"].shape, dtype=np.float32)


def points_not_finite(header, arrays):
    arrays["alpha"][0, 3] = np.nan


def split_leaf(arrays):
    """The last leaf that has a sibling."""
    return int([leaf for leaf in leaves_of(arrays) if arrays["branch"][leaf] >= 0][-1])


def missing_leaf(header, arrays):
    leaf = split_leaf(arrays)
    for name in ("parent", "branch", "side", "row"):
        arrays[name] = np.delete(arrays[name], leaf)
    arrays["parent"] -= arrays["parent"] > leaf


def missing_root(header, arrays):
    for name in ("parent", "branch", "side", "row"):
        arrays[name] = arrays[name][:0]


def side_flipped(header, arrays):
    leaf = split_leaf(arrays)
    arrays["side"][leaf] = 1 - arrays["side"][leaf]


def all_sides_flipped(header, arrays):
    made = arrays["branch"] >= 0
    arrays["side"][made] = 1 - arrays["side"][made]


def leaves_opened(header, arrays):
    arrays["row"][leaves_of(arrays)] = -1


def other_branches(header, arrays):
    made = arrays["branch"] >= 0
    arrays["branch"][made] = (arrays["branch"][made] + 7) % header["p"]


def parents_after_children(header, arrays):
    arrays["parent"][1] = len(arrays["parent"]) - 1


def no_tree(header, arrays):
    for name in ("parent", "branch", "side", "row"):
        arrays[name] = arrays[name][:1]


def lambda_0_lower(header, arrays):
    header["lambda_0"] *= 0.5


def lambda_0_lower_and_consistent(header, arrays):
    header["lambda_0"] *= 0.5
    header["objective"] -= header["lambda_0"] * len(arrays["support"])


def lambda_1_higher(header, arrays):
    header["lambda_1"] = 0.01


def lambda_2_lower(header, arrays):
    header["lambda_2"] *= 0.5


def lambda_2_lower_and_consistent(header, arrays):
    header["lambda_2"] *= 0.5
    header["objective"] -= header["lambda_2"] * float(np.sum(arrays["coef"] ** 2))
    header["lower_bound"] -= header["lambda_2"] * float(np.sum(arrays["coef"] ** 2))


def k_lower(header, arrays):
    header["k"] -= 1


def k_higher(header, arrays):
    header["k"] += 3


def no_k(header, arrays):
    header["k"] = None


def lower_bound_raised(header, arrays):
    header["lower_bound"] += 1e-7


def objective_lowered(header, arrays):
    header["objective"] -= 1e-7


def coefficients_changed(header, arrays):
    arrays["coef"] = arrays["coef"] * 0.999


def coefficients_outside(header, arrays):
    arrays["coef"] = arrays["coef"] * 10.0


def intercept_changed(header, arrays):
    arrays["intercept"] = arrays["intercept"] + 1e-3


def feature_dropped(header, arrays):
    arrays["support"], arrays["coef"] = arrays["support"][1:], arrays["coef"][1:]


def feature_twice(header, arrays):
    arrays["support"] = np.append(arrays["support"], arrays["support"][0])
    arrays["coef"] = np.append(arrays["coef"], 0.1)


def weights_changed(header, arrays):
    arrays["weights"] = arrays["weights"][::-1]


def weights_not_normalised(header, arrays):
    arrays["weights"] = arrays["weights"] * 1.01


def no_weights(header, arrays):
    del arrays["weights"]


def box_widened(header, arrays):
    arrays["lower"], arrays["upper"] = 3.0 * arrays["lower"], 3.0 * arrays["upper"]


def box_narrowed(header, arrays):
    arrays["lower"], arrays["upper"] = 0.5 * arrays["lower"], 0.5 * arrays["upper"]


def box_of_no_point(header, arrays):
    arrays["lower"], arrays["upper"] = arrays["upper"], arrays["lower"]


def no_intercept(header, arrays):
    header["fit_intercept"] = False


def other_loss(header, arrays):
    header["loss"] = "squared_hinge"


def classes_exchanged(header, arrays):
    arrays["classes"] = arrays["classes"][::-1]


def spread_changed(header, arrays):
    arrays["spread"] = arrays["spread"] * 1.001


def not_standardized(header, arrays):
    header["standardize"] = False
    del arrays["spread"]


def unpenalized_removed(header, arrays):
    del arrays["unpenalized"]


def unpenalized_added(header, arrays):
    arrays["unpenalized"] = np.union1d(arrays["unpenalized"], arrays["branch"][arrays["branch"] >= 0])


def assumption_hidden(header, arrays):
    header["bound"] = None


def assumption_weakened(header, arrays):
    header["bound"] *= 2.0


def assumption_sharpened(header, arrays):
    header["bound"] = 0.5 * float(np.abs(arrays["coef"]).max())


def called_optimal(header, arrays):
    header["status"] = "optimal"


def called_optimal_and_tight(header, arrays):
    header["status"], header["lower_bound"] = "optimal", header["objective"]


def other_version(header, arrays):
    header["version"] = 99


def first_version(header, arrays):
    header["version"] = 1
    del header["swap_size"], header["prover"]


def prover_missing(header, arrays):
    del header["prover"]


def prover_of_two_lines(header, arrays):
    header["prover"] = "SCIP\nCertificate: valid"


def bound_by_scip(header, arrays):
    header["prover"], header["lower_bound"] = "SCIP 9.2 (method mip)", header["objective"]


def prover_removed(header, arrays):
    bound_by_scip(header, arrays)
    header["prover"] = None


def other_format(header, arrays):
    header["format"] = "another certificate"


def no_lambda_0(header, arrays):
    del header["lambda_0"]


def negative_lambda_2(header, arrays):
    header["lambda_2"] = -1e-3


def wrong_type(header, arrays):
    arrays["parent"] = arrays["parent"].astype(float)


PROVES, VALUE, COVER = "the tree proves the lower bound", "the solution's objective is", "children that do not cover it"
TAMPERINGS = [
    ("weighted box", scaled_points, PROVES),
    ("weighted box", no_points_at_leaves, PROVES),
    ("weighted box", other_points, PROVES),
    ("weighted box", points_not_finite, "alpha contains numbers that are not finite"),
    ("weighted box", missing_leaf, "has a missing child"),
    ("weighted box", missing_root, "the tree is malformed"),
    ("weighted box", side_flipped, COVER),
    ("weighted box", all_sides_flipped, PROVES),
    ("weighted box", leaves_opened, PROVES),
    ("weighted box", other_branches, PROVES),
    ("weighted box", parents_after_children, "the tree is malformed"),
    ("weighted box", no_tree, PROVES),
    ("weighted box", lambda_0_lower, VALUE),
    ("weighted box", lambda_0_lower_and_consistent, PROVES),
    ("weighted box", lambda_1_higher, VALUE),
    ("weighted box", lambda_2_lower, VALUE),
    ("weighted box", lambda_2_lower_and_consistent, PROVES),
    ("weighted box", k_lower, r"the solution uses 4 features, k allows 3"),
    ("weighted box", k_higher, PROVES),
    ("weighted box", no_k, PROVES),
    ("weighted box", lower_bound_raised, PROVES),
    ("weighted box", objective_lowered, VALUE),
    ("weighted box", coefficients_changed, VALUE),
    ("weighted box", coefficients_outside, "the solution violates lower, upper"),
    ("weighted box", intercept_changed, VALUE),
    ("weighted box", feature_dropped, VALUE),
    ("weighted box", feature_twice, "support lists a feature twice"),
    ("weighted box", weights_changed, VALUE),
    ("weighted box", weights_not_normalised, "weights are negative or do not sum to one"),
    ("weighted box", no_weights, VALUE),
    ("weighted box", box_widened, PROVES),
    ("weighted box", box_narrowed, "the solution violates lower, upper"),
    ("weighted box", box_of_no_point, "lower and upper are not in order"),
    ("weighted box", no_intercept, "the solution has an intercept"),
    ("weighted box", other_loss, VALUE),
    ("weighted box", classes_exchanged, "y is not the target"),
    ("standardized", spread_changed, "spread is not that of the data"),
    ("standardized", not_standardized, VALUE),
    ("standardized", unpenalized_removed, "the solution uses 5 features, k allows 4"),
    ("standardized", unpenalized_added, "the tree splits what cannot be split"),
    ("conditional", assumption_hidden, PROVES),
    ("conditional", assumption_weakened, PROVES),
    ("conditional", assumption_sharpened, "or the assumed bound"),
    ("truncated", called_optimal, "the status is 'optimal' but the proved gap"),
    ("truncated", called_optimal_and_tight, PROVES),
    ("weighted box", other_version, "version 99"),
    ("weighted box", first_version, "version 1 of certificates is not read here, only version 2"),
    ("weighted box", prover_missing, "prover is missing"),
    ("weighted box", prover_of_two_lines, "prover is missing or no short text"),
    ("truncated", bound_by_scip, "rests on SCIP 9.2 (method mip); this file itself proves"),
    ("truncated", prover_removed, PROVES),
    ("weighted box", other_format, "this is not an ellzero certificate"),
    ("weighted box", no_lambda_0, "lambda_0 is missing"),
    ("weighted box", negative_lambda_2, "lambda_2 is missing or no usable number"),
    ("weighted box", wrong_type, "parent has the wrong shape"),
]


@pytest.mark.parametrize("name", BASES)
def test_untouched(name):
    sol, header, arrays = base(name)
    assert len(arrays["parent"]) >= 3, "too easy to tell anything"
    for report in (check(header, arrays, sign=False), check(header, arrays), ez.verify(sol.certificate, X, Y)):
        assert report.valid, report.reasons
        assert report.objective == pytest.approx(sol.objective, rel=1e-13)
        assert report.lower_bound == pytest.approx(sol.lower_bound, rel=1e-9)
        assert report.gap == pytest.approx(sol.gap, abs=1e-8)
        assert report.nodes == len(arrays["parent"])
        assert report.leaves == len(leaves_of(arrays))


@pytest.mark.parametrize(("name", "tamper", "reason"), TAMPERINGS, ids=[f"{t[1].__name__}" for t in TAMPERINGS])
def test_tampering_is_told(name, tamper, reason):
    _, header, arrays = base(name)
    tamper(header, arrays)
    unsigned = check(header, arrays, sign=False)
    assert not unsigned.valid
    assert len(unsigned.reasons) == 1
    known = "version" in reason or "not an ellzero" in reason
    assert (reason if known else "the digest does not match") in unsigned.reasons[0]
    signed = check(header, arrays)
    assert not signed.valid
    assert reason in " ".join(signed.reasons), signed.reasons
    assert "NOT VALID" in repr(signed)


def test_every_leaf_counts():
    """No dual point of a leaf can be taken away, unless other points prove as much."""
    _, header, arrays = base("large tree")
    told = 0
    rows = points_of_leaves(arrays)
    assert len(rows) >= 10, "too easy to tell anything"
    for row in rows:
        kept = arrays["alpha"][row].copy()
        arrays["alpha"][row] = 0.0
        report = check(header, arrays)
        told += not report.valid
        assert report.valid or PROVES in report.reasons[0]
        arrays["alpha"][row] = kept
    assert told >= 0.8 * len(rows), (told, len(rows))
    assert check(header, arrays).valid


# Other data -----------------------------------------------------------------------------------------------------------


def with_entry(value):
    other = X.copy()
    other[5, 3] += value
    return other


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"X": with_entry(1e-12)}, "X is not the matrix"),
        ({"X": with_entry(np.nan)}, "X is not the matrix"),
        ({"X": X[:, ::-1]}, "X is not the matrix"),
        ({"X": X[:-1]}, "X has shape"),
        ({"X": X[:, 0]}, "X"),
        ({"y": np.where(np.arange(60) == 11, -Y, Y)}, "y is not the target"),
        ({"y": -Y}, "y is not the target"),
        ({"y": np.where(Y > 0, 2, 1)}, "y is not the target"),
        ({"y": Y[:-1]}, "y has shape"),
    ],
    ids=["X", "X nan", "X reversed", "X short", "X vector", "y", "y negated", "y other labels", "y short"],
)
def test_other_data_is_told(other, reason):
    sol, _, _ = base("weighted box")
    report = ez.verify(sol.certificate, other.get("X", X), other.get("y", Y))
    assert not report.valid
    assert reason in report.reasons[0]


def test_other_fingerprints_do_not_help():
    """A certificate made to fit other data, checksums and all, proves nothing about them."""
    _, header, arrays = base("weighted box")
    flipped = np.where(np.arange(60) < 6, -Y, Y)
    other = ez.solve(X, flipped, **BASES["weighted box"]).certificate.header
    header["fingerprint_y"] = other["fingerprint_y"]
    report = check(header, arrays, y=flipped)
    assert not report.valid
    assert VALUE in report.reasons[0]
    header["objective"] = header["lower_bound"] = report.objective
    report = check(header, arrays, y=flipped)
    assert not report.valid
    assert PROVES in report.reasons[0]


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BASES)
def test_saved_and_loaded(name, tmp_path):
    sol, _, arrays = base(name)
    path = tmp_path / "proof.npz"
    sol.certificate.save(path)
    direct = ez.verify(sol.certificate, X, Y)
    assert repr(ez.verify(path, X, Y)) == repr(direct)
    assert repr(ez.verify(str(path), X, Y)) == repr(direct)
    assert sorted(tmp_path.iterdir()) == [path]
    with np.load(path, allow_pickle=False) as file:
        for key, value in arrays.items():
            np.testing.assert_array_equal(file[key], value)


def saved(tmp_path):
    path = tmp_path / "proof.npz"
    base("weighted box")[0].certificate.save(path)
    return path


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file(tmp_path, share):
    path = saved(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    report = ez.verify(path, X, Y)
    assert not report.valid
    assert "cannot be read as a certificate" in report.reasons[0]


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_file(tmp_path, seed):
    """A flipped bit is found, or it was where nothing is stored."""
    path = saved(tmp_path)
    content, rng = bytearray(path.read_bytes()), np.random.default_rng(seed)
    for place in rng.integers(0, len(content), 50):
        content[place] ^= 1 << int(rng.integers(8))
    path.write_bytes(content)
    report = ez.verify(path, X, Y)
    assert not report.valid, seed
    assert len(report.reasons) == 1


class Bomb:
    """Whoever unpickles it writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


def test_pickled_objects_are_refused(tmp_path):
    path, trace = saved(tmp_path), tmp_path / "exploded"
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.array([Bomb(trace)], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    for name in ("alpha.npy", "extra.npy", "header.npy"):
        with zipfile.ZipFile(path, "w") as new:
            for key, value in {**members, name: stream.getvalue()}.items():
                new.writestr(key, value)
        report = ez.verify(path, X, Y)
        assert not report.valid, name
        assert not trace.exists(), name
    np.load(path, allow_pickle=True)["header"]  # the bomb is live
    assert trace.exists()


def test_files_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError):
        ez.verify(tmp_path / "nothing.npz", X, Y)
    with pytest.raises(ez.InvalidInputError, match="certificate must be a path or a certificate"):
        ez.verify(3, X, Y)
    other = tmp_path / "other.npz"
    np.savez(other, x=np.ones(3))
    assert "cannot be read as a certificate" in ez.verify(other, X, Y).reasons[0]
    np.savez(other, header=np.frombuffer(json.dumps({"a": 1}).encode(), dtype=np.uint8))
    assert "this is not an ellzero certificate" in ez.verify(other, X, Y).reasons[0]


# What a reader should know --------------------------------------------------------------------------------------------


def test_conditional_certificates_say_so():
    sol, _, _ = base("conditional")
    report = ez.verify(sol.certificate, X, Y)
    assert report.valid
    assert sol.certificate.conditional
    assert report.conditional
    assert report.reasons == ["conditional on |beta_j| <= 1 for the features that lambda_0 counts (on the penalised scale)."]
    assert "valid, conditional" in repr(report)
    free, _, _ = base("weighted box")
    assert not free.certificate.conditional
    assert not ez.verify(free.certificate, X, Y).conditional
    assert ez.verify(free.certificate, X, Y).reasons == []


def test_free_features_without_a_penalty_are_conditional_too():
    sol = ez.solve(X, Y, lambda_0=0.02, upper=0.5, lower=[-np.inf] + [-0.5] * 19, unpenalized=[0], gap=1e-5)
    report = ez.verify(sol.certificate, X, Y)
    assert report.valid
    assert report.conditional
    assert "for unpenalized features" in report.reasons[0]


@pytest.mark.parametrize("node_limit", [0, 1, 3, 8])
def test_open_leaves_are_counted(node_limit):
    sol = ez.solve(X, Y, **{**BASES["truncated"], "node_limit": node_limit})
    report = ez.verify(sol.certificate, X, Y)
    assert report.valid, report.reasons
    assert sol.status == "node_limit"
    assert report.open_leaves > 0
    assert report.gap > PLAIN["gap"]
    assert f"{report.open_leaves} of {report.leaves} leaves are open" in report.reasons[-1]
    assert ez.verify(ez.solve(X, Y, **BASES["weighted box"]).certificate, X, Y).open_leaves == 0


def test_bounds_by_another_solver_are_told_apart():
    sol, header, arrays = base("truncated")
    bound_by_scip(header, arrays)
    report = check(header, arrays)
    assert not report.valid
    assert report.lower_bound == pytest.approx(sol.lower_bound, rel=1e-9)
    assert report.gap == pytest.approx(sol.gap, abs=1e-8)
    assert report.claimed_lower_bound == header["objective"]
    rests = f"the lower bound {header['objective']:.15g} rests on SCIP 9.2 (method mip)"
    assert report.reasons[0] == f"{rests}; this file itself proves {report.lower_bound:.15g}."
    assert report.reasons[1] == f"{report.open_leaves} of {report.leaves} leaves are open: left to SCIP 9.2 (method mip)."


def test_another_solver_does_not_matter_where_the_tree_proves_the_claim():
    sol, header, arrays = base("weighted box")
    header["prover"] = "SCIP 9.2"
    report = check(header, arrays)
    assert report.valid
    assert report.reasons == []
    assert report.swap_size is None
    header["objective"] -= 1e-7
    assert VALUE in check(header, arrays).reasons[0]
    assert header["version"] == 2
    assert sol.certificate.header["prover"] is None


# Containers -----------------------------------------------------------------------------------------------------------

CONTAINERS = {
    "row-major": np.ascontiguousarray,
    "column-major": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csc": sparse.csc_matrix,
    "csr array": sparse.csr_array,
    "coo float32": lambda X: sparse.coo_matrix(X.astype(np.float32)),
    "frame": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
    "list": lambda X: X.tolist(),
}


@pytest.mark.parametrize("solved_as", ["row-major", "float32", "csc", "frame"])
def test_any_container_of_the_same_numbers(solved_as):
    sol = ez.solve(CONTAINERS[solved_as](X), Y, **PLAIN)
    reports = {name: ez.verify(sol.certificate, make(X), Y) for name, make in CONTAINERS.items()}
    for name, report in reports.items():
        assert report.valid, (name, report.reasons)
        assert report.lower_bound == pytest.approx(reports["row-major"].lower_bound, rel=1e-13), name
        assert report.objective == pytest.approx(reports["row-major"].objective, rel=1e-13), name
    for labels in (Y.astype(float), Y.tolist(), Y[:, None], pd.Series(Y)):
        assert ez.verify(sol.certificate, X, labels).valid
