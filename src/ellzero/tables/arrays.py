"""NumPy's files: archives that hold a matrix X, and vectors with an entry for each row, in the same file or in others."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack
from typing import IO, Any

from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted
from ellzero.base.reading import Archive, read_array
from ellzero.tables.sparse_archive import is_sparse
from ellzero.tables.streams import readable

NAMED = 10


def open_archive(content: IO[bytes], shown: str, stack: ExitStack) -> Archive:
    """Return an archive with an array X, or with one sparse matrix."""
    with readable(shown, "npz"):
        archive = stack.enter_context(Archive(content))
        if "X" not in archive.members and not is_sparse(archive):
            raise InvalidInputError(f"{shown} has no array X; it has {archive.listed()}.")
    return archive


def check_is_matrix(shape: tuple[int, ...], dtype: Any, shown: str) -> None:
    """Refuse what is no matrix of numbers, and one without rows or columns."""
    if len(shape) != 2 or dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise InvalidInputError(f"{shown} must hold a matrix of numbers, got shape {quoted(shape)} of type {dtype}.")
    if not shape[0] or not shape[1]:
        raise InvalidInputError(f"{shown} has no {'columns' if shape[0] else 'rows'}.")


def named_vector(
    name: str, held: Collection[str], read: Callable[[str], NDArray[Any]], shown: str, option: str
) -> NDArray[Any]:
    """Return numbers or strings: an array that a file holds, which `read` returns, or that of a .npy file."""
    if name in held:
        values = read(name)
    elif name.endswith(".npy"):
        with readable(f"{option}: {name}", "an array"):
            values = read_array(name)
    else:
        has = ", it has " + ", ".join(map(quoted, list(held)[:NAMED])) if held else ""
        raise InvalidInputError(f"{option}: {shown} has no array {name!r}{has}; name one, or a .npy file.")
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1:
        raise InvalidInputError(f"{option}: {name!r} must be a vector, got shape {values.shape}.")
    if values.dtype.kind not in "fiubUS":
        raise InvalidInputError(f"{option}: {name!r} must hold numbers or strings, got type {values.dtype}.")
    if values.dtype.kind != "S":
        return values
    try:
        return values.astype(str)
    except UnicodeDecodeError:
        raise InvalidInputError(f"{option}: {name!r} holds bytes that are not plain text; save strings.") from None
