"""A certificate that was tampered with is told, by its checksum and, where that was made anew, by what it no longer proves."""

import pytest
from support.certificates import PROVES, base, check, points_of_leaves
from support.tampering import TAMPERINGS


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
