"""A certificate as plain values with a seal of its own: whatever was changed, the digest is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.exact.verifier import digest, fingerprint_matrix, fingerprint_vector

__all__ = ["Arrays", "Draft", "Header", "Sealed"]

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
        """Make the checksums of the data those of X and y as they are now."""
        self.header["fingerprint_X"] = fingerprint_matrix(self.X, str(self.header["storage"]))
        self.header["fingerprint_y"] = fingerprint_vector(self.target())
        self.header["n"], self.header["p"] = self.X.shape

    def target(self) -> NDArray[np.float64]:
        """Return y as -1 and +1 by the classes of the certificate, or as numbers."""
        if self.header["loss"] == "squared_error":
            return np.asarray(self.y, dtype=np.float64)
        labels = self.y.astype(str) if self.arrays["classes"].dtype.kind == "U" else self.y
        return np.where(labels == self.arrays["classes"][1], 1.0, -1.0)
