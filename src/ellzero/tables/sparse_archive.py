"""Sparse matrices that `scipy.sparse.save_npz` wrote, read without trust in their sizes and indices."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.quoting import quoted
from ellzero.base.reading import Archive, Form, Malformed, check_forms, check_shape, read_as

NUMBERS = "iufb"


def is_sparse(archive: Archive) -> bool:
    """Return whether an archive holds one sparse matrix."""
    return "format" in archive.members and "X" not in archive.members


def read_sparse(archive: Archive) -> Any:
    """Return the matrix in the format in which it was saved."""
    format, shape = format_saved(archive), shape_of(archive)
    check_shape(shape, archive.size)
    if format not in READERS:
        raise Malformed(f"its matrix has the format {quoted(format)}; save it as csc or csr")
    with read_as("its matrix cannot be read"):
        return READERS[format](archive, shape)


def format_saved(archive: Archive) -> str:
    """Return the format of the matrix, which the archive holds as an array of one text."""
    form = needed(archive, "format")["format"]
    if form.size != 1 or form.dtype.kind not in "SU":
        raise Malformed("the format of its matrix is not text")
    text = form.item()
    return text.decode("latin-1") if isinstance(text, bytes) else str(text)


def shape_of(archive: Archive) -> tuple[int, int]:
    """Return the shape of the matrix."""
    arrays = needed(archive, "shape")
    check_forms(arrays, {"shape": Form("iu", (2,), low=0, high=2**40)}, {})
    rows, columns = arrays["shape"].tolist()
    return rows, columns


def needed(archive: Archive, *names: str) -> dict[str, NDArray[Any]]:
    """Read the arrays of the matrix."""
    missing = [name for name in names if name not in archive.members]
    if missing:
        raise Malformed(f"its matrix has no array {missing[0]}")
    return {name: archive.read(name) for name in names}


def columns(archive: Archive, shape: tuple[int, int]) -> Any:
    """Return a matrix of compressed columns."""
    return sparse.csc_matrix(compressed_parts(archive, ("entries",), shape[1], shape[0]), shape=shape)


def rows(archive: Archive, shape: tuple[int, int]) -> Any:
    """Return a matrix of compressed rows."""
    return sparse.csr_matrix(compressed_parts(archive, ("entries",), shape[0], shape[1]), shape=shape)


def block_rows(archive: Archive, shape: tuple[int, int]) -> Any:
    """Return a matrix of compressed rows of blocks."""
    size = archive.open("data")[1].shape[1:] if "data" in archive.members else ()
    if len(size) != 2 or not all(size) or shape[0] % size[0] or shape[1] % size[1]:
        raise Malformed("the blocks of its matrix do not fit")
    parts = compressed_parts(archive, ("entries", *size), shape[0] // size[0], shape[1] // size[1])
    return sparse.bsr_matrix(parts, shape=shape)


def compressed_parts(archive: Archive, form: tuple[str | int, ...], along: int, across: int) -> tuple[NDArray[Any], ...]:
    """Return the entries, their indices (below `across`), and where each of the `along` columns or rows begins."""
    arrays = needed(archive, "data", "indices", "indptr")
    forms = {
        "data": Form(NUMBERS, form),
        "indices": Form("iu", ("entries",), low=0, high=across),
        "indptr": Form("iu", (along + 1,), starts_of="data"),
    }
    check_forms(arrays, forms, {})
    return arrays["data"], arrays["indices"], arrays["indptr"]


def coordinates(archive: Archive, shape: tuple[int, int]) -> Any:
    """Return a matrix of entries with a row and a column each."""
    arrays = needed(archive, "data", "row", "col")
    forms = {
        "data": Form(NUMBERS, ("entries",)),
        "row": Form("iu", ("entries",), low=0, high=shape[0]),
        "col": Form("iu", ("entries",), low=0, high=shape[1]),
    }
    check_forms(arrays, forms, {})
    return sparse.coo_matrix((arrays["data"], (arrays["row"], arrays["col"])), shape=shape)


def diagonals(archive: Archive, shape: tuple[int, int]) -> Any:
    """Return a matrix of diagonals."""
    arrays = needed(archive, "data", "offsets")
    forms = {
        "data": Form(NUMBERS, ("diagonals", "length")),
        "offsets": Form("i", ("diagonals",), low=-shape[0], high=shape[1] + 1),
    }
    check_forms(arrays, forms, {})
    return sparse.dia_matrix((arrays["data"], arrays["offsets"]), shape=shape)


READERS = {"csc": columns, "csr": rows, "coo": coordinates, "bsr": block_rows, "dia": diagonals}
