"""Every small proof of these tests is repeated in exact arithmetic."""

import functools
from importlib.util import find_spec

import pytest

import ellzero

LARGEST_EXACT_PROOF = 20_000  # rows times features times dual points: a tenth of a second in exact arithmetic


@pytest.fixture(autouse=True)
def repeat_proofs_exactly(monkeypatch):
    """Repeat every check of a small certificate in exact arithmetic, which must prove at least as much as float64."""
    if find_spec("flint") is None:  # a wheel is tested where exact arithmetic may not be had
        return
    verify = ellzero.verify

    @functools.wraps(verify)
    def both(certificate, X, y, **settings):
        report = verify(certificate, X, y, **settings)
        size = report.nodes * X.shape[0] * X.shape[1] if getattr(X, "ndim", 2) == 2 and hasattr(X, "shape") else 0
        if 0 < size < LARGEST_EXACT_PROOF and settings.get("arithmetic") is None:
            exact = verify(certificate, X, y, arithmetic="exact", **settings)
            assert exact.lower_bound >= report.lower_bound
            assert exact.valid >= report.valid, exact.reasons
            assert abs(exact.objective - report.objective) <= 1e-9 * abs(report.objective) + 1e-15
        return report

    monkeypatch.setattr(ellzero, "verify", both)
