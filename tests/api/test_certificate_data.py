"""A certificate belongs to its data: the same numbers in any container, and no others."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support.certificates import BASES, PLAIN, X, Y, base, check

import ellzero as ez
from fuzz.certificates.tampering.changes import PROVES, VALUE


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
