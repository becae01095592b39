"""Writers of column stores, which take a block of columns at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, closing
from types import TracebackType
from typing import Any

from numpy.typing import ArrayLike

from ellzero.base.errors import InvalidInputError
from ellzero.conversion.checking import checked_contents
from ellzero.conversion.folder import NewFolder
from ellzero.conversion.store_files import DenseFiles, SparseFiles


class Writer:
    """Base class of the writers: the store exists only once all of its columns are written."""

    _files: type[DenseFiles | SparseFiles]

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
        self.contents = checked_contents(n, p, dtype, names, y, target, self._files.types)
        self.folder = NewFolder(path, overwrite)
        self.files: Any = None

    def __enter__(self) -> Any:
        with ExitStack() as stack:
            stack.enter_context(self.folder)
            if self._files is DenseFiles:  # the size of sparse files is not known
                self.folder.expect(DenseFiles.size(self.contents))
            self.files = self._files(self.folder.path, self.contents)
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

    def append(self, block: Any) -> None:
        """Write further columns, a `block` of shape (n, any number); NaN, infinity and what the type cannot hold is refused."""
        if self.files is None:
            raise InvalidInputError(f"append works only inside 'with {type(self).__name__}(...) as writer:'.")
        self.files.append(block)


class ColumnWriter(Writer):
    """Writes a dense column store in blocks of columns, so that X never has to fit in memory.

    Use it in a ``with`` block. The store is complete when the block ends; after an error, or with fewer than `p` columns,
    nothing is left behind.

    Parameters
    ----------
    path : str or path
        New folder. The store is written next to it, under a temporary name.
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

    _files = DenseFiles


class SparseColumnWriter(Writer):
    """Writes a sparse column store in blocks of columns (sparse matrices), without zeros.

    Parameters
    ----------
    path, n, p, names, y, target, overwrite :
        As in :class:`ColumnWriter`.
    dtype : "float32" or "float64"

    """

    _files = SparseFiles
