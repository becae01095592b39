"""Writes column stores, a block of columns at a time (`docs/column-store.md` has the format).

`ColumnWriter` and `SparseColumnWriter` make a folder of their own; `DenseFiles` and `SparseFiles` write into one that is there.
"""

from __future__ import annotations

import io
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

from ellzero.conversion.folder import NewFolder
from ellzero.design.column_files import ABOUT, BESIDE, FORMAT, TYPES, VERSION
from ellzero.design.store import BLOCK_BYTES
from ellzero.errors import InvalidInputError
from ellzero.validation import as_choice

__all__ = ["ColumnWriter", "Contents", "DenseFiles", "SparseColumnWriter", "SparseFiles", "fitting"]

SPARSE_TYPES = ("float64", "float32")
VECTOR_HEADER = (
    128  # bytes: what NumPy writes before a vector of any length, so that it can be written again when that is known
)


@dataclass(frozen=True)
class Contents:
    """What a store holds beside the numbers themselves."""

    n: int
    p: int
    dtype: np.dtype[Any]
    names: Sequence[str] | None = None
    y: NDArray[Any] | None = None
    target: str | None = None

    def label(self, j: int) -> str:
        """What a sentence calls a column."""
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"


def checked(
    n: Any, p: Any, dtype: Any, names: Sequence[str] | None, y: ArrayLike | None, target: str | None, types: tuple[str, ...]
) -> Contents:
    """The contents, or the one argument that cannot be used."""
    for name, value in (("n", n), ("p", p)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InvalidInputError(f"{name} must be an integer of at least 1, got {value!r}.")
    try:
        known = np.dtype(dtype).name
    except TypeError:
        known = dtype
    as_choice("dtype", known, types)
    if names is not None:
        names = list(names)
        if len(names) != p or not all(isinstance(name, str) for name in names):
            raise InvalidInputError(f"names must be {p} strings, one for each column.")
        if len(set(names)) < p:
            twice = Counter(names).most_common(1)[0][0]
            raise InvalidInputError(f"names must be different, {twice!r} is there twice.")
    if target is not None and not isinstance(target, str):
        raise InvalidInputError(f"target must be a string, got {target!r}.")
    vector = None if y is None else checked_target(y, int(n))
    return Contents(int(n), int(p), np.dtype(known).newbyteorder("<"), names, vector, target)


def checked_target(y: ArrayLike, n: int) -> NDArray[Any]:
    """Numbers or strings, one a row, as they can be kept in a file."""
    vector = np.asarray(y)
    if vector.dtype == object and all(isinstance(value, str) for value in vector.ravel().tolist()):
        vector = vector.astype(str)
    if vector.shape != (n,):
        raise InvalidInputError(f"y must have shape ({n},), got {vector.shape}.")
    if vector.dtype.kind not in "fiubU":
        raise InvalidInputError(f"y must hold numbers or strings, got type {vector.dtype}.")
    if vector.dtype.kind == "f" and not np.isfinite(vector).all():
        raise InvalidInputError("y contains NaN or infinity.")
    return np.ascontiguousarray(vector, dtype=vector.dtype.newbyteorder("<"))


def fitting(block: NDArray[Any], contents: Contents, first: int = 0, row: int = 0) -> NDArray[Any]:
    """A block (beginning with column `first` and row `row`) in the store's type and Fortran order, if all of it fits."""
    if block.dtype.kind not in "fiub":
        raise InvalidInputError(f"columns must hold real numbers, got dtype {block.dtype}.")
    dtype = contents.dtype
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.asfortranarray(block, dtype=dtype)
    if values.dtype == block.dtype and dtype.kind == "i":
        return values
    good = np.isfinite(values) if dtype.kind == "f" else values == block
    if not good.all():
        j = int(np.argmin(good.all(axis=0)))
        i = int(np.argmin(good[:, j]))
        refuse_value(block[i, j], row + i, first + j, contents)
    return values


def refuse_value(value: Any, row: int, column: int, contents: Contents) -> NoReturn:
    """Say where a value is and why it cannot be stored."""
    where = contents.label(column)
    if np.isnan(value):
        raise InvalidInputError(f"{where} has a missing value (NaN) in row {row + 1}.")
    if np.isinf(value):
        raise InvalidInputError(f"{where} has an infinite value in row {row + 1}.")
    wider = "float64" if contents.dtype.kind == "f" else "float32 or float64"
    raise InvalidInputError(
        f"{where} has the value {value:g} in row {row + 1}, which {contents.dtype.name} cannot hold; use dtype {wider}."
    )


class Files:
    """The files of a store in a folder that is there; the folder becomes a store when `finish` has written about.json."""

    storage = ""

    def __init__(self, folder: Path, contents: Contents) -> None:
        self.folder = folder
        self.contents = contents
        self.done = 0  # columns
        self.open = ExitStack()

    def create(self, name: str) -> IO[bytes]:
        """A file to write to, closed by `finish` or `close`."""
        return self.open.enter_context(open(self.folder / name, "wb+"))

    def close(self) -> None:
        """Let go of the files."""
        self.open.close()

    def advance(self, shape: tuple[int, ...]) -> None:
        """Check the shape of the next block and count its columns."""
        contents = self.contents
        if len(shape) != 2 or shape[0] != contents.n:
            raise InvalidInputError(f"block must have shape ({contents.n}, columns), got {shape}.")
        if self.done + shape[1] > contents.p:
            raise InvalidInputError(f"block goes beyond the {contents.p} columns of the store: {self.done} are there already.")
        self.done += shape[1]

    def finish(self) -> None:
        """Write what belongs to the columns, about.json last."""
        contents = self.contents
        if self.done < contents.p:
            raise InvalidInputError(f"only {self.done} of {contents.p} columns were appended.")
        block_columns, checksums = self.end()
        if contents.y is not None:
            with open(self.folder / "y.npy", "wb") as file:
                np.save(file, contents.y, allow_pickle=False)
                synced(file)
        if contents.names is not None:
            self.write_json("names.json", list(contents.names))
        sizes = {path.name: path.stat().st_size for path in sorted(self.folder.iterdir())}
        about = {
            "format": FORMAT,
            "version": VERSION,
            "storage": self.storage,
            "n": contents.n,
            "p": contents.p,
            "dtype": contents.dtype.name,
            "block_columns": block_columns,
            "crc32": checksums,
            "target": contents.target,
            "files": sizes,
            "checks": {name: zlib.crc32((self.folder / name).read_bytes()) for name in BESIDE if name in sizes},
            "made_by": f"ellzero {version('ellzero')}",
        }
        self.write_json(ABOUT, about)

    def end(self) -> tuple[int, list[int]]:
        """Complete the files of the numbers: columns in a block, and the checksum of each block."""
        raise NotImplementedError

    def write_json(self, name: str, value: Any) -> None:
        """A file of text."""
        with open(self.folder / name, "wb") as file:
            file.write(json.dumps(value, ensure_ascii=False).encode())
            synced(file)


class DenseFiles(Files):
    """X.npy: all columns one after the other."""

    storage = "dense"

    def __init__(self, folder: Path, contents: Contents) -> None:
        super().__init__(folder, contents)
        column_bytes = contents.n * contents.dtype.itemsize
        self.block_columns = max(1, BLOCK_BYTES // column_bytes)
        self.block_bytes = self.block_columns * column_bytes
        self.checksums: list[int] = []
        self.position = 0  # in the block that is being written
        self.rows = 0  # in the column that is being written, where a column comes in pieces
        self.file = self.create("X.npy")
        npy.write_array_header_1_0(
            self.file, {"descr": npy.dtype_to_descr(contents.dtype), "fortran_order": True, "shape": (contents.n, contents.p)}
        )

    @staticmethod
    def size(contents: Contents) -> int:
        """Bytes of the numbers."""
        return contents.n * contents.p * contents.dtype.itemsize

    def append(self, block: ArrayLike) -> None:
        """The next columns."""
        if np.ma.is_masked(block):
            raise InvalidInputError("block has masked entries; fill them first.")
        columns = np.asarray(block)
        first = self.done
        self.advance(columns.shape)
        for start in range(0, columns.shape[1], self.block_columns):  # a copy in another type stays small
            strip = columns[:, start : start + self.block_columns]
            self.write(fitting(strip, self.contents, first + start))

    def append_piece(self, piece: NDArray[Any]) -> None:
        """The next rows of the next column: where a whole column would be too much."""
        self.write(fitting(piece.reshape(-1, 1), self.contents, self.done, self.rows))
        self.rows += piece.size
        if self.rows == self.contents.n:
            self.rows = 0
            self.done += 1

    def write(self, columns: NDArray[Any]) -> None:
        """Bytes, with checksums that end where blocks do."""
        data = memoryview(columns.T.reshape(-1).view(np.uint8))  # the transpose of Fortran order: no copy
        self.file.write(data)
        while len(data):
            part = data[: self.block_bytes - self.position]
            if self.position == 0:
                self.checksums.append(0)
            self.checksums[-1] = zlib.crc32(part, self.checksums[-1])
            self.position = (self.position + len(part)) % self.block_bytes
            data = data[len(part) :]

    def end(self) -> tuple[int, list[int]]:
        """The file is complete as it is."""
        synced(self.file)
        self.close()
        return self.block_columns, self.checksums


class SparseFiles(Files):
    """data.npy, indices.npy and indptr.npy: compressed sparse columns."""

    storage = "sparse"

    def __init__(self, folder: Path, contents: Contents) -> None:
        super().__init__(folder, contents)
        self.index_dtype = np.dtype("<i8" if contents.n >= 2**31 else "<i4")
        self.indptr = np.zeros(contents.p + 1, dtype="<i8")
        self.types = {"data.npy": contents.dtype, "indices.npy": self.index_dtype}
        self.files = {name: self.create(name) for name in self.types}
        for name, dtype in self.types.items():
            self.files[name].write(vector_header(dtype, 0))

    @staticmethod
    def size(contents: Contents, entries: int) -> int:
        """Bytes of the numbers."""
        return entries * (contents.dtype.itemsize + (8 if contents.n >= 2**31 else 4)) + 8 * (contents.p + 1)

    def append(self, block: Any) -> None:
        """The next columns, as a sparse matrix of any format."""
        from scipy import sparse

        first = self.done
        if not sparse.issparse(block):
            raise InvalidInputError(f"block must be a sparse matrix, got {type(block).__name__}.")
        self.advance(block.shape)
        matrix = canonical(sparse.csc_matrix(block), self.contents, first)
        self.files["data.npy"].write(np.ascontiguousarray(matrix.data).data)
        self.files["indices.npy"].write(np.ascontiguousarray(matrix.indices, dtype=self.index_dtype).data)
        self.indptr[first + 1 : self.done + 1] = self.indptr[first] + matrix.indptr[1:]

    def end(self) -> tuple[int, list[int]]:
        """Lengths are known now, and with them what a block is: checksums are taken of what the files hold."""
        entries = int(self.indptr[-1])
        for name, dtype in self.types.items():
            self.files[name].seek(0)
            self.files[name].write(vector_header(dtype, entries))
            synced(self.files[name])
        with open(self.folder / "indptr.npy", "wb") as file:
            np.save(file, self.indptr)
            synced(file)
        entry_bytes = sum(dtype.itemsize for dtype in self.types.values())
        blocks = max(1, round(entries * entry_bytes / BLOCK_BYTES))
        block_columns = max(1, -(-self.contents.p // blocks))
        checksums = [self.checksum(first, block_columns) for first in range(0, self.contents.p, block_columns)]
        self.close()
        return block_columns, checksums

    def checksum(self, first: int, count: int) -> int:
        """Of a block's values, then of its row numbers."""
        start, stop = (int(self.indptr[j]) for j in (first, min(first + count, self.contents.p)))
        value = 0
        for name, dtype in self.types.items():
            for part in parts(self.files[name], VECTOR_HEADER + start * dtype.itemsize, (stop - start) * dtype.itemsize):
                value = zlib.crc32(part, value)
        return value


def canonical(matrix: Any, contents: Contents, first: int) -> Any:
    """The matrix with sorted rows, nothing twice and no zeros, in the store's type."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.dtype.kind not in "fiub":
        raise InvalidInputError(f"columns must hold real numbers, got dtype {matrix.dtype}.")
    with np.errstate(over="ignore"):
        values = matrix.data.astype(contents.dtype)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        j = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        refuse_value(matrix.data[bad[0]], int(matrix.indices[bad[0]]), first + j, contents)
    zeros = not values.all()  # in the store's type, in which tiny numbers may be zero
    matrix = type(matrix)((values, matrix.indices, matrix.indptr), shape=matrix.shape, copy=zeros)
    if zeros:
        matrix.eliminate_zeros()
    return matrix


def vector_header(dtype: np.dtype[Any], length: int) -> bytes:
    """What comes before the numbers of a vector in a .npy file; it has the same size for every length."""
    stream = io.BytesIO()
    npy.write_array_header_1_0(stream, {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": (length,)})
    header = stream.getvalue()
    assert len(header) == VECTOR_HEADER
    return header


def parts(file: IO[bytes], start: int, size: int) -> Iterator[bytes]:
    """Some bytes of a file, a few at a time."""
    file.seek(start)
    while size:
        part = file.read(min(size, 1 << 20))
        yield part
        size -= len(part)


def synced(file: IO[bytes]) -> None:
    """Have all of a file on the disk."""
    file.flush()
    os.fsync(file.fileno())


class Writer:
    """A store that is written block by block, and is there only when all of it is."""

    _types: tuple[str, ...] = ()

    def __init__(
        self,
        path: str | os.PathLike[str],
        n: int,
        p: int,
        *,
        dtype: str = "float32",
        names: Sequence[str] | None = None,
        y: ArrayLike | None = None,
        target: str | None = None,
        overwrite: bool = False,
    ) -> None:
        self.contents = checked(n, p, dtype, names, y, target, self._types)
        self.folder = NewFolder(path, overwrite)
        self.files: Any = None

    def __enter__(self) -> Any:
        with ExitStack() as stack:
            stack.enter_context(self.folder)
            self.files = self._begin()
            stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        files, self.files = self.files, None
        try:
            with closing(files):
                if error is None:
                    files.finish()
        except BaseException as problem:
            self.folder.__exit__(type(problem), problem, problem.__traceback__)
            raise
        self.folder.__exit__(kind, error, trace)

    def _begin(self) -> Files:
        """The files of the new folder."""
        raise NotImplementedError

    def append(self, block: Any) -> None:
        """Write the next columns: shape (n, any number). NaN, infinity and what the type cannot hold are refused."""
        if self.files is None:
            raise InvalidInputError(f"append is for the inside of 'with {type(self).__name__}(...) as writer:'.")
        self.files.append(block)


class ColumnWriter(Writer):
    """Writes a dense column store block by block, so that X need never be in memory.

    Use it in a ``with`` block. The store is there when the block ends; if it ends with an error or before all `p` columns were
    appended, nothing is left behind.

    Parameters
    ----------
    path : str or path
        Folder to make. The store is written beside it, under a temporary name.
    n, p : int
        Numbers of rows and columns.
    dtype : "float32", "float64" or "int8"
        Type of the stored numbers; "int8" takes whole numbers from -128 to 127.
    names : sequence of str, optional
        Names of the columns, each different.
    y : array of shape (n,), optional
        The target: numbers or strings.
    target : str, optional
        Its name.
    overwrite : bool
        Whether a column store of this name may be replaced.

    Examples
    --------
    >>> import tempfile, numpy as np, ellzero as ez
    >>> rng = np.random.default_rng(0)
    >>> folder = tempfile.mkdtemp()
    >>> with ez.ColumnWriter(f"{folder}/x.columns", 100, 1000) as writer:
    ...     for _ in range(10):
    ...         writer.append(rng.standard_normal((100, 100)))
    >>> np.load(f"{folder}/x.columns/X.npy", mmap_mode="r").shape
    (100, 1000)

    """

    _types = TYPES

    def _begin(self) -> Files:
        """One file of known size."""
        self.folder.expect(DenseFiles.size(self.contents))
        return DenseFiles(self.folder.path, self.contents)


class SparseColumnWriter(Writer):
    """The same for sparse columns: `append` takes sparse matrices; zeros are left out, `dtype` is a float type."""

    _types = SPARSE_TYPES

    def _begin(self) -> Files:
        """Files that grow."""
        return SparseFiles(self.folder.path, self.contents)
