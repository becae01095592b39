"""What changes of a certificate are made of. A change is a function of its header and its arrays, which it changes in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fuzz.certificates.sealed import Arrays, Header

__all__ = ["COVER", "PROVES", "VALUE", "Change", "Tampering", "array", "both", "entry", "filled", "less", "put", "scaled"]

Change = Callable[[Header, Arrays], None]
# Of the verifier's reasons.
PROVES, VALUE, COVER = "the tree proves the lower bound", "the solution's objective is", "children that do not cover it"


class Tampering(NamedTuple):
    """A change, the kind of certificate that it is for, its name, and the reason that the verifier gives there."""

    base: str
    name: str
    change: Change
    reason: str


def entry(**values: Any) -> Change:
    """Set entries of the header."""
    return lambda header, arrays: header.update(values)


def array(name: str, make: Callable[[Any], Any]) -> Change:
    """Replace an array by what a function makes of it."""

    def change(header: Header, arrays: Arrays) -> None:
        arrays[name] = np.asarray(make(arrays[name]))

    return change


def put(name: str, place: Any, value: Any) -> Change:
    """Set one place of an array."""

    def change(header: Header, arrays: Arrays) -> None:
        arrays[name][place] = value

    return change


def scaled(name: str, factor: float) -> Change:
    """Multiply an array, which keeps its type, or an entry of the header."""

    def change(header: Header, arrays: Arrays) -> None:
        if name in arrays:
            arrays[name] = (arrays[name] * factor).astype(arrays[name].dtype)
        else:
            header[name] *= factor

    return change


def filled(name: str, value: float) -> Change:
    """Set all places of an array."""
    return array(name, lambda old: np.full_like(old, value))


def less(*names: str) -> Change:
    """Remove arrays and entries of the header."""

    def change(header: Header, arrays: Arrays) -> None:
        for name in names:
            del (arrays if name in arrays else header)[name]

    return change


def both(*changes: Change) -> Change:
    """Make several changes, one after the other."""

    def change(header: Header, arrays: Arrays) -> None:
        for each in changes:
            each(header, arrays)

    return change
