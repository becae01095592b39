"""A certificate as plain values with its own seal: whatever was changed, the digest is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.exact.verifier import digest, fingerprint_matrix, fingerprint_vector

__all__ = ["Arrays", "Draft", "Header", "Sealed", "changed"]

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Sealed:
    """What `verify` takes: a header and arrays."""

    header: Header
    arrays: Arrays


@dataclass(eq=False)
class Draft:
    """A certificate that is being changed, with the data that it will be verified against."""

    header: Header
    arrays: Arrays
    X: NDArray[np.float64]
    y: NDArray[Any]

    def copy(self) -> Draft:
        """Return a draft that can be changed without changing this one."""
        return Draft(dict(self.header), {name: np.array(array) for name, array in self.arrays.items()}, self.X, self.y)

    def sealed(self) -> Sealed | None:
        """Return the certificate with its digest; None if it holds what no digest can be made of."""
        header = {name: value for name, value in self.header.items() if name != "digest"}
        try:
            return Sealed({**header, "digest": digest(header, self.arrays)}, self.arrays)
        except (TypeError, ValueError, RecursionError, AttributeError):
            return None

    def fingerprint(self) -> None:
        """Make the checksums of the data those of the present X and y."""
        self.header["fingerprint_X"] = fingerprint_matrix(self.X, str(self.header["storage"]))
        self.header["fingerprint_y"] = fingerprint_vector(self.target())
        self.header["n"], self.header["p"] = self.X.shape

    def target(self) -> NDArray[np.float64]:
        """Return y as -1 and +1 or as 0 and 1 by the classes of the certificate, or as numbers, one output after another."""
        if self.header["loss"] == "squared_error":
            return np.asarray(self.y, dtype=np.float64).T.ravel()
        classes = self.arrays["classes"]
        labels = self.y.astype(str) if classes.dtype.kind == "U" else self.y
        if self.header["loss"] == "multinomial":
            return (labels == classes[:, None]).astype(np.float64).ravel()
        ones = labels == classes[:, None] if len(classes) > 2 else classes[1] == labels.T
        return np.where(ones, 1.0, -1.0).ravel()


def changed(draft: Draft, arrays: dict[str, Any] | None = None, **header: Any) -> Draft:
    """Return a copy with other arrays and other fields of the header."""
    out = draft.copy()
    out.arrays |= arrays or {}
    out.header |= header
    return out
