"""The function `convert`: reads a data file of any known format and writes a column store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import import_whole
from ellzero.base.progress import ProgressCallback, as_progress
from ellzero.base.validation import as_choice, as_path, if_given
from ellzero.conversion.checking import checked_contents, type_name
from ellzero.conversion.content import DenseContent, part_report, store_dense, store_sparse
from ellzero.conversion.folder import NewFolder
from ellzero.conversion.plan import IMPUTE, Plan, as_bytes, format_of
from ellzero.conversion.store_files import DenseFiles, SparseFiles
from ellzero.design.column_files import TYPES
from ellzero.tables.formats import STANDARD_INPUT
from ellzero.tables.streams import undamaged

READERS = {
    "csv": ("csv_file", "rows_of_csv"),
    "tsv": ("csv_file", "rows_of_csv"),
    "parquet": ("parquet", "columns_of_parquet"),
    "svmlight": ("svmlight", "sparse_rows"),
    "plink": ("plink", "genotypes"),
    "npy": ("arrays", "array_of_npy"),
    "npz": ("arrays", "array_of_npz"),
}


def convert(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    target: str | None = None,
    target_file: str | os.PathLike[str] | None = None,
    format: str | None = None,
    dtype: str | None = None,
    drop: str | Iterable[str] = (),
    drop_unlabelled: bool = False,
    regression: bool = False,
    impute: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str = "utf-8",
    missing: str | Iterable[str] = (),
    overwrite: bool = False,
    memory: int | str = "256M",
    progress: bool | ProgressCallback | None = None,
) -> Path:
    """Convert a data file into a column store, which can be larger than memory.

    Reads the file once, in parts. Writes the store next to its destination under a temporary name and renames it at the end,
    so that an error leaves nothing behind.

    Parameters
    ----------
    source : str or path
        CSV or TSV (also .gz, .bz2, .xz, .zst; "-" is standard input), Parquet, svmlight/libsvm, PLINK (.bed with .bim and
        .fam), .npy or .npz. svmlight and sparse .npz files become sparse stores, all others dense ones.
    out : str or path
        Folder to make.
    target : str, optional
        Column to predict. For .npz files, the name of an array (default: y, if present) or a .npy file; for .npy files, a .npy
        file; for PLINK, a column of `target_file` (default: the phenotype of the .fam file). svmlight files contain their
        labels. Labels keep their spelling, as numbers or strings.
    target_file : str or path, optional
        PLINK: a table with the columns IID (and FID, if wanted) and `target`.
    format : str, optional
        "csv", "tsv", "parquet", "svmlight", "plink", "npy" or "npz"; None: by the file's ending.
    dtype : "float64", "float32" or "int8", optional
        Type of the stored numbers. None: the narrowest that loses nothing; int8 for PLINK, float64 for text. Numbers that it
        cannot hold are refused, but float64 may be rounded to float32.
    drop : sequence of str
        Columns to leave out.
    drop_unlabelled : bool
        Leave out rows without a target instead of refusing them (tables and PLINK).
    regression : bool
        The target is a number (otherwise "0.50" is a text label).
    impute : "median", "mean" or "mode", optional
        Fill missing values with this number of their column; otherwise they are refused. Of several modes, the smallest.
    separator, decimal, encoding, missing : optional
        Format of a text table; by default separator and decimal mark are those that its first lines suggest. `missing`: words
        for a missing value in addition to the usual ones.
    overwrite : bool
        Whether a column store of this name may be replaced.
    memory : int or str
        Bytes to work with, such as "256M". Only vectors with one entry per row or column, a single row of text, a sparse .npz
        file (which is read whole) and, to fill missing values, a single column may need more.
    progress : bool or function, optional
        As in :func:`ellzero.fit_path`; a function is called with the fraction done (and two zeros).

    Returns
    -------
    pathlib.Path
        The store.

    Examples
    --------
    >>> import tempfile, numpy as np, ellzero as ez
    >>> folder = tempfile.mkdtemp()
    >>> np.savez(f"{folder}/data.npz", X=np.eye(4, 3), y=["a", "b", "b", "a"])
    >>> store = ez.convert(f"{folder}/data.npz", f"{folder}/data.columns", dtype="float32")
    >>> sorted(file.name for file in store.iterdir())
    ['X.npy', 'about.json', 'y.npy']
    >>> np.load(store / "X.npy", mmap_mode="r")[:, 1].tolist()
    [0.0, 1.0, 0.0, 0.0]

    """
    name, place = as_path("source", source), Path(as_path("out", out))
    plan = Plan(
        source=name,
        format=format_of(name, format),
        target=target,
        target_file=if_given(as_path, "target_file", target_file),
        drop=as_tuple(drop),
        drop_unlabelled=drop_unlabelled,
        regression=regression,
        impute=if_given(as_choice, "impute", impute, IMPUTE),
        dtype=None if dtype is None else as_choice("dtype", type_name(dtype), TYPES),
        separator=separator,
        decimal=decimal,
        encoding=encoding,
        missing=as_tuple(missing),
        memory=as_bytes("memory", memory),
    )
    if plan.source == STANDARD_INPUT and plan.format not in ("csv", "tsv", "svmlight"):
        raise InvalidInputError(f"{plan.format} files cannot be read from standard input.")
    with NewFolder(place, overwrite) as folder:
        write_store(plan, folder, Meter(as_progress(progress, "storing by columns")))
    return place


def write_store(plan: Plan, folder: NewFolder, meter: Meter) -> None:
    """Read the source by the reader of its format, and write the store into the folder."""
    module, function = READERS[plan.format]
    read = getattr(import_whole(f"ellzero.conversion.{module}"), function)
    with undamaged(plan.shown), ExitStack() as stack:
        content = read(plan, folder.path, stack, part_report(meter, 0.0, 0.5))
        dense = isinstance(content, DenseContent)
        files = DenseFiles if dense else SparseFiles
        contents = checked_contents(
            content.n, content.p, plan.dtype or content.dtype, content.names, content.y, content.target, files.types
        )
        rest = part_report(meter, meter.done, 1.0)  # readers of files by columns have reported nothing so far
        if dense:
            store_dense(content, folder, contents, plan.memory, plan.impute, rest)
        else:
            store_sparse(content, folder, contents, plan.memory, rest)


class Meter:
    """Progress of a conversion, which remembers the fraction that is done."""

    def __init__(self, callback: ProgressCallback | None) -> None:
        self.callback: Callable[[float, float, int], None] | None = callback
        self.done = 0.0

    def __call__(self, fraction: float) -> None:
        """Remember the fraction, and tell the caller."""
        self.done = fraction
        if self.callback is not None:
            self.callback(fraction, 0.0, 0)


def as_tuple(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return one string or several as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given)
