"""Access to the data of a certificate: X in any container, read in blocks, and checksums."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ellzero.base.devices import is_on_device, on_host
from ellzero.base.errors import InvalidInputError

Array = NDArray[np.float64]

CHUNK_BYTES = 16 * 2**20
SPARSE_SHARE = 8  # a block of a sparse matrix has this many times as many columns as one of a dense matrix
LARGEST_CHUNK_BYTES = 256 * 2**20  # chunks of other libraries' arrays up to this size, as float64, are read as a whole
NARROW_ENTRIES = 2**18
LITTLE_WEIGHT = 1e-3  # of the zeros of a sparse column: one less what the others weigh has lost digits
RAISED = 2.0**600  # times weights: the products of the least of them keep their digits


class Refused(Exception):
    """The certificate cannot be checked any further; the arguments are the reasons."""


def require(condition: object, reason: str) -> None:
    """Refuse the certificate unless a condition holds."""
    if not condition:
        raise Refused(reason)


def require_all(good: Any, reason: str) -> None:
    """Refuse the certificate unless a condition holds for every entry."""
    if not np.all(good):
        raise Refused(f"{reason} (first at {int(np.argmin(good))}).")


def digest(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the checksum of a whole certificate, without the header's own entry "digest"."""
    rest = {name: value for name, value in header.items() if name != "digest"}
    sha = hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode())
    for name in sorted(set(arrays) - {"header"}):
        array = np.asarray(arrays[name])
        sha.update((name + array.dtype.str + repr(tuple(map(int, array.shape)))).encode())
        sha.update(np.ascontiguousarray(array).data if array.size else b"")
    return sha.hexdigest()


def check_entries(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], fields: set[str]) -> None:
    """Refuse a certificate that was altered, or whose header has other entries than its format."""
    try:
        found = digest(header, arrays)
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused(f"the certificate holds what no certificate can hold: {type(error).__name__}.") from None
    require(header.get("digest") == found, "the digest does not match: the certificate was altered or damaged.")
    missing, unknown = fields - header.keys(), header.keys() - fields
    require(not missing, f"the header lacks {', '.join(sorted(missing))}.")
    require(not unknown, f"the header has an entry that is not part of the format: {min(unknown, key=str, default='')!r:.40}.")


def fingerprint_vector(v: ArrayLike) -> str:
    """Return the checksum of a vector's shape and float64 values, such as those of the encoded target."""
    values = np.asarray(v, dtype=np.float64) + 0.0  # -0.0 and 0.0 are the same number: both become 0.0
    return hashlib.sha256(repr(tuple(map(int, values.shape))).encode() + values.tobytes()).hexdigest()


def fingerprint_matrix(X: object, storage: str) -> str:
    """Return the checksum of a matrix's shape and float64 values, whatever its container; `storage` is "dense" or "sparse"."""
    if storage not in ("dense", "sparse"):
        raise InvalidInputError(f"storage must be 'dense' or 'sparse', got {storage!r}.")
    matrix = as_matrix(X)
    sha = hashlib.sha256(repr(tuple(map(int, matrix.shape))).encode())
    if storage == "dense":
        for _, block in blocks(matrix):
            sha.update((block + 0.0).tobytes(order="F"))
        return sha.hexdigest()
    # The checksum has all of indptr first, then all of indices, then all of data: three passes, and never a copy of X.
    counts = [np.diff(part.indptr) for part in compressed(matrix)]
    update(sha, np.concatenate([np.zeros(1, np.int64), *counts]).cumsum(dtype=np.int64), np.int64)
    for part in compressed(matrix):
        update(sha, part.indices, np.int64)
    for part in compressed(matrix):
        update(sha, part.data, np.float64)
    return sha.hexdigest()


def update(sha: Any, values: NDArray[Any], dtype: Any) -> None:
    """Add an array's values, converted to a type, to a checksum; the copies it makes are small."""
    for start in range(0, len(values), CHUNK_BYTES // 8):
        sha.update(values[start : start + CHUNK_BYTES // 8].astype(dtype).tobytes())


def as_matrix(X: Any) -> Any:
    """Return X as canonical CSC (float64, no explicit zeros), or as any two-dimensional object whose columns can be sliced.

    The latter may be on a disk or elsewhere: only slices and selections of its columns are read.
    """
    require_real("X", X)
    if sparse.issparse(X):
        csc = sparse.csc_matrix(X.astype(np.float64))  # small integers would overflow where duplicates are summed
        if not csc.has_canonical_format or not csc.data.all():
            csc = csc.copy()  # it may share the caller's arrays
            csc.sum_duplicates()
            csc.eliminate_zeros()
        return csc
    if is_on_device(X):
        return DeviceColumns(X)
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
        require_real("X", X)
    matrix = X if hasattr(X, "shape") and hasattr(X, "__getitem__") else np.asarray(X)
    if len(matrix.shape) != 2:
        raise InvalidInputError(f"X must be a matrix, got shape {tuple(matrix.shape)}.")
    return matrix


def require_real(name: str, values: Any) -> None:
    """Raise an error for what is not an array of real numbers, all of them there: a conversion would drop a part silently."""
    if np.ma.is_masked(values):
        raise TypeError(f"{name} has masked entries")
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind not in "biufO":
        raise TypeError(f"{name} must hold real numbers, got dtype {values.dtype}")


class DeviceColumns:
    """The columns of an array on a device, which come to the host as they are asked for."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.shape: tuple[int, ...] = tuple(map(int, array.shape))
        if len(self.shape) != 2:
            raise InvalidInputError(f"X must be a matrix, got shape {self.shape}.")

    def __getitem__(self, key: Any) -> NDArray[Any]:
        if isinstance(key[1], slice):
            return on_host(self.array[:, key[1]])
        columns = [on_host(self.array[:, int(j)]) for j in np.arange(self.shape[1])[key[1]]]
        return np.stack(columns, axis=1) if columns else np.empty((self.shape[0], 0))


def dense(part: Any) -> Array:
    """Return a part of X as a dense float64 array."""
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def blocks(matrix: Any) -> Iterator[tuple[slice, Array]]:
    """Yield dense float64 blocks of columns of bounded size: views where X is float64, never a second copy of X."""
    n, p = matrix.shape
    step = max(1, CHUNK_BYTES // (8 * max(n, 1)))
    chunk = chunk_width(matrix)
    if chunk * n * 8 <= LARGEST_CHUNK_BYTES:  # a chunk that is read in parts is read several times
        step = max(step // chunk, 1) * chunk
    for start in range(0, p, step):
        part = slice(start, min(start + step, p))
        yield part, dense(matrix[:, part])


def selected(matrix: Any, columns: NDArray[np.int64]) -> Iterator[tuple[slice, Array]]:
    """Yield dense float64 blocks of some columns, in this order, and their places among them."""
    step = max(1, CHUNK_BYTES // (8 * max(matrix.shape[0], 1)))
    for start in range(0, len(columns), step):
        part = slice(start, start + step)
        yield part, dense(matrix[:, columns[part]])


def chunk_width(matrix: Any) -> int:
    """Return the number of columns in a chunk where X is an array in chunks (HDF5, Zarr, Dask), one elsewhere."""
    chunks = getattr(matrix, "chunks", None)
    width = chunks[1] if isinstance(chunks, tuple) and len(chunks) == 2 else 1
    return max(1, *map(int, width)) if isinstance(width, tuple) else max(1, int(width))


def pieces(matrix: Any) -> Iterator[tuple[slice, Any]]:
    """Yield blocks of columns, sparse or dense as X is; a sparse matrix in memory is one block."""
    n, p = matrix.shape
    if sparse.issparse(matrix):
        yield slice(0, p), matrix
    elif getattr(matrix, "storage", "dense") == "sparse":
        step = max(1, SPARSE_SHARE * CHUNK_BYTES // (8 * max(n, 1)))
        for start in range(0, p, step):
            part = slice(start, min(start + step, p))
            yield part, as_matrix(matrix[:, part])
    else:
        yield from blocks(matrix)


def compressed(matrix: Any) -> Iterator[Any]:
    """Yield blocks of columns as canonical CSC."""
    for _, piece in pieces(matrix):
        yield piece if sparse.issparse(piece) else as_matrix(sparse.csc_matrix(piece))


def narrow_blocks(matrix: Any) -> Iterator[tuple[slice, Array]]:
    """Yield dense float64 blocks of few columns, for computations that need far more memory than the block itself."""
    n, p = matrix.shape
    step = max(1, NARROW_ENTRIES // max(n, 1))
    for start in range(0, p, step):
        part = slice(start, min(start + step, p))
        yield part, dense(matrix[:, part])


def column_sizes(matrix: Any, w: Array, balanced: bool) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """Return the largest absolute value of every column, its weighted norms about the mean and about zero in units of that, and
    whether it is idle: all its numbers are zero, or equal if dual points are `balanced`, but for rows without weight.

    In these units nothing overflows. Weights are far above the numbers that lose their digits: rows that weigh next to nothing
    may be the only ones that a column has entries in. The norm about the mean is computed in two passes.
    """
    largest, variance, second = np.zeros((3, matrix.shape[1]))
    idle, counts = np.zeros(matrix.shape[1], dtype=bool), w > 0.0
    share = (w / w.sum())[counts]  # weights may sum to a little more or less than one
    for part, piece in pieces(matrix):
        require_all(finite_columns(piece), "X contains numbers that are not finite")
        weighty = piece if counts.all() else piece[counts]  # rows without weight count nowhere
        size = abs(weighty).max(axis=0)
        largest[part] = size.toarray().ravel() if sparse.issparse(size) else size
        unit = np.where(largest[part] > 0.0, largest[part], 1.0)
        least, most = (
            side.toarray().ravel() if sparse.issparse(side) else side for side in (weighty.min(axis=0), weighty.max(axis=0))
        )
        idle[part] = (least == most) & (balanced | (most == 0.0))
        if sparse.issparse(piece):
            scaled = weighty.copy()
            scaled.data /= np.repeat(unit, np.diff(scaled.indptr))
            variance[part], second[part] = sparse_moments(scaled, share)
        else:
            scaled = weighty / unit
            variance[part], second[part] = RAISED * share @ (scaled - share @ scaled) ** 2, RAISED * share @ scaled**2
    return largest, np.sqrt(variance) / math.sqrt(RAISED), np.sqrt(second) / math.sqrt(RAISED), idle


def finite_columns(piece: Any) -> NDArray[np.bool_]:
    """Return which columns of a block hold finite numbers only."""
    if not sparse.issparse(piece):
        return np.asarray(np.isfinite(piece).all(axis=0))
    good = np.isfinite(piece.data)
    return np.bincount(np.repeat(np.arange(piece.shape[1]), np.diff(piece.indptr))[~good], minlength=piece.shape[1]) == 0


def sparse_moments(matrix: Any, w: Array) -> tuple[Array, Array]:
    """Return weighted variance and second moment of a sparse matrix' columns, raised, with their zeros counted in."""
    mean, deviation, pattern = matrix.T @ w, matrix.copy(), matrix.copy()
    deviation.data = (matrix.data - np.repeat(mean, np.diff(matrix.indptr))) ** 2
    pattern.data = np.ones(matrix.nnz)
    zeros = w.sum() - pattern.T @ w
    for j in np.flatnonzero(zeros < LITTLE_WEIGHT):  # a difference that has lost digits
        zeros[j] = np.delete(w, matrix.indices[matrix.indptr[j] : matrix.indptr[j + 1]]).sum()
    return deviation.T @ (RAISED * w) + RAISED * mean**2 * zeros, matrix.power(2).T @ (RAISED * w)


def column_products(theta: Array, matrix: Any, outputs: int = 1) -> Array:
    """Return the products theta X of a stack of row vectors theta, summed in float64, with one pass over X.

    With several outputs, the entries of each stand one after the other in theta, and the products of a column with all of them
    stand together.
    """
    (n, p), points = matrix.shape, len(theta)
    out, sides = np.empty((points, p, outputs)), theta.reshape(points * outputs, n)
    for part, piece in pieces(matrix):
        found = (piece.T @ sides.T).T if sparse.issparse(piece) else sides @ piece
        out[:, part] = found.reshape(points, outputs, -1).swapaxes(1, 2)
    return out.reshape(points, p * outputs)
