"""Certificates of score cards as files, and after tampering: none that claims too much is valid."""

from types import SimpleNamespace

import numpy as np
import pytest

import ellzero as ez
from ellzero.exact.verifier import digest
from ellzero.scores.problem import ScoreProblem
from fuzz.scores.brute_force import cards
from fuzz.scores.drawing import draw, draw_variant, solved


@pytest.fixture(scope="module")
def proved():
    """A problem whose proof has a tree, models and listed supports."""
    rng = np.random.default_rng(5)
    X = (rng.random((150, 7)) < 0.5).astype(np.uint8)
    y = np.where(rng.random(150) < 1 / (1 + np.exp(-1.5 * (X[:, 0] + X[:, 1] - X[:, 2] - 0.5))), 1.0, -1.0)
    problem = ScoreProblem(X, y, None, np.full(7, -2), np.full(7, 2), 3, 2.0)
    return problem, solved(problem)


def changed(certificate, change):
    """A copy of a certificate after a change of header and arrays, with the right checksum."""
    header = dict(certificate.header)
    arrays = {name: array.copy() for name, array in certificate.arrays.items()}
    change(header, arrays)
    return SimpleNamespace(header={**header, "digest": digest(header, arrays)}, arrays=arrays)


def drop_box(header, arrays):
    for name in ("box_support", "box_lower", "box_upper", "box_points"):
        arrays[name] = arrays[name][1:]


def double_box(header, arrays):
    for name in ("box_support", "box_lower", "box_upper", "box_points"):
        arrays[name] = np.concatenate([arrays[name][:1], arrays[name][:1], arrays[name][2:]])


def narrow_box(header, arrays):
    wide = np.argmax((arrays["box_upper"] - arrays["box_lower"]).max(axis=1))
    side = np.argmax(arrays["box_upper"][wide] - arrays["box_lower"][wide])
    arrays["box_upper"][wide, side] = arrays["box_lower"][wide, side]


def drop_listed(header, arrays):
    arrays["listed"][0] = [4, 5, 6]


def other_models(header, arrays):
    arrays["box_points"] = arrays["box_points"] + 1.0


def no_run(header, arrays):
    """The leaves that are run through become leaves with the empty model."""
    count = int((arrays["tree"] == -1).sum())
    arrays["tree"][arrays["tree"] == -1] = -2
    arrays["model_ends"] = np.zeros(count + 1, dtype=np.int64)
    arrays["model_columns"], arrays["model_values"] = np.zeros(0, np.int64), np.zeros(0)
    arrays["model_intercepts"] = np.zeros(count)


def longer_tree(header, arrays):
    arrays["tree"] = np.append(arrays["tree"], -1)


def shorter_tree(header, arrays):
    arrays["tree"] = np.array([0, -1])


def split_twice(header, arrays):
    arrays["tree"] = np.array([0, 0, -1, -1, -1])


def worse_score(header, arrays):
    header["scale"] = header["scale"] * 0.9


def worse_score_admitted(problem):
    def change(header, arrays):
        header["scale"] = header["scale"] * 0.9
        header["objective"] = problem.objective(arrays["support"], arrays["points"], header["scale"], header["intercept"])

    return change


def with_nan(header, arrays):
    arrays["box_points"][0, 0] = np.nan


HEADERS = {
    "lower_bound": [0.6, -1.0, "x", None, 1e301],
    "objective": [0.1, True],
    "scale": [-0.1, 2.5],
    "max_scale": [1e-3, 0.0, 1e9],
    "min_scale": [1.9, -1.0, 3.0],
    "lambda_0": [0.01, -0.01],
    "whole_intercept": [True, 0],
    "k": [2, 0, 64, 3.0],
    "status": ["complete", "proved", None],
    "threshold": [0.1],
    "gap_asked": [-1.0],
    "intercept": [7.0],
    "fingerprint_y": ["0"],
    "fingerprint_X": ["0"],
    "version": [2, "1"],
    "n": [149],
    "p": [8],
}
CHANGES = [drop_box, double_box, narrow_box, drop_listed, other_models, no_run, longer_tree, shorter_tree, split_twice]
CHANGES += [worse_score, with_nan]


def test_files_are_as_good_as_objects(proved, tmp_path):
    problem, solution = proved
    solution.certificate.save(tmp_path / "proof.npz")
    report = ez.verify(tmp_path / "proof.npz", problem.X, problem.y, k=3, max_scale=2.0, points_upper=2)
    assert report.valid
    assert report.objective == pytest.approx(solution.card.loss)
    assert "risk score" in str(report)
    other = ez.verify(tmp_path / "proof.npz", problem.X, problem.y, k=4, points_upper=5, lambda_2=0.1)
    assert not other.valid
    assert len(other.reasons) == 3


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_tampered_proofs_are_refused(proved, change):
    problem, solution = proved
    assert len(solution.certificate.arrays["listed"])
    assert not ez.verify(changed(solution.certificate, change), problem.X, problem.y).valid


def test_a_worse_score_that_says_so_is_not_optimal(proved):
    problem, solution = proved
    report = ez.verify(changed(solution.certificate, worse_score_admitted(problem)), problem.X, problem.y)
    assert not report.valid
    assert "'optimal'" in report.reasons[0]


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in HEADERS.items() for value in values])
def test_headers_are_checked(proved, name, value):
    problem, solution = proved
    forged = changed(solution.certificate, lambda header, arrays: header.update({name: value}))
    assert not ez.verify(forged, problem.X, problem.y).valid


@pytest.mark.parametrize(
    ("name", "value"),
    [("lambda_0", 0.0), ("lambda_0", 0.5), ("max_scale", 2.0), ("whole_intercept", False), ("intercept", 1.0)],
)
def test_another_problem_needs_another_proof(name, value):
    problem = draw_variant(5)
    assert problem.whole_intercept
    assert problem.price
    certificate, X = solved(problem).certificate, problem.X[:, :-1]
    assert ez.verify(certificate, X, problem.y).valid
    forged = changed(certificate, lambda header, arrays: header.update({name: value}))
    assert not ez.verify(forged, X, problem.y).valid


def test_other_data_is_refused(proved):
    problem, solution = proved
    assert not ez.verify(solution.certificate, problem.X, -problem.y).valid
    assert not ez.verify(solution.certificate, 1 - problem.X, problem.y).valid
    assert not ez.verify(solution.certificate, problem.X[:, :6], problem.y).valid
    broken = SimpleNamespace(header={**solution.certificate.header, "k": 2}, arrays=solution.certificate.arrays)
    assert "digest" in ez.verify(broken, problem.X, problem.y).reasons[0]


def test_no_random_change_proves_too_much():
    """Numbers of the proof are changed, the problem is not: whatever is still valid is true."""
    rng = np.random.default_rng(11)
    proof = ["tree", "model_ends", "model_columns", "model_values", "model_intercepts", "listed"]
    proof += ["box_support", "box_lower", "box_upper", "box_points"]
    refused = 0
    for problem in (draw(1), draw(3), draw(8), draw(13), draw_variant(5), draw_variant(7)):
        X = problem.X[:, : problem.X.shape[1] - problem.whole_intercept]
        solution = solved(problem)
        best = min(loss for _, loss in cards(problem))

        def change(header, arrays):
            name = rng.choice([name for name in proof if arrays[name].size])
            place = rng.integers(arrays[name].size)
            arrays[name].flat[place] += rng.choice([-2, -1, 1, 3])
            header["lower_bound"] += rng.choice([0.0, 1e-5, 1e-2]) * header["objective"]

        for _ in range(40):
            report = ez.verify(changed(solution.certificate, change), X, problem.y)
            refused += not report.valid
            assert not report.valid or report.lower_bound <= best + 1e-9
    assert refused > 40


def test_a_list_that_lacks_a_card_is_refused(proved):
    problem, _ = proved
    solution = solved(problem, within=0.02)
    assert ez.verify(solution.certificate, problem.X, problem.y).valid

    def raise_the_threshold(header, arrays):
        header["threshold"] *= 1.05
        header["lower_bound"] *= 1.05

    assert not ez.verify(changed(solution.certificate, raise_the_threshold), problem.X, problem.y).valid
