"""The catalogue of tampering, applied to any certificate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from fuzz.certificates.sealed import Draft
from fuzz.certificates.tampering import CATALOGUE
from fuzz.certificates.tampering.changes import Change

__all__ = ["tampered"]

SHARES = 8  # each certificate gets one of them: all of the catalogue would take longer than its mutations


def tampered(draft: Draft, number: int) -> Iterator[tuple[str, Draft]]:
    """Yield what a share of the catalogue makes of a certificate."""
    for tampering in CATALOGUE[number % SHARES :: SHARES]:
        out = draft.copy()
        if applies(tampering.change, out):
            yield tampering.name, out


def applies(change: Change, draft: Draft) -> bool:
    """Change a certificate in place; some changes need arrays that it lacks."""
    with suppress(LookupError, ValueError, TypeError, StopIteration), np.errstate(all="ignore"):
        change(draft.header, draft.arrays)
        return True
    return False
