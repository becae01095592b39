"""A certificate that was tampered with is told, by its checksum and, where that was made anew, by what it no longer proves."""

import pytest
from support.certificates import BASES, base, check

from fuzz.certificates.tampering import CATALOGUE
from fuzz.certificates.tampering.changes import PROVES
from fuzz.certificates.tampering.tree import no_points, points_of_leaves

OWN = [tampering for tampering in CATALOGUE if tampering.base in BASES]


@pytest.mark.parametrize("tampering", OWN, ids=[tampering.name for tampering in OWN])
def test_tampering_is_told(tampering):
    _, header, arrays = base(tampering.base)
    tampering.change(header, arrays)
    reason = tampering.reason
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
        less = {name: array.copy() for name, array in arrays.items()}
        no_points(less, row)
        report = check(header, less)
        told += not report.valid
        assert report.valid or PROVES in report.reasons[0]
    assert told >= 0.8 * len(rows), (told, len(rows))
    assert check(header, arrays).valid
