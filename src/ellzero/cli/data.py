"""The data of a command: a file read, its target and weights taken out, its columns prepared."""

from __future__ import annotations

import argparse
import shlex
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import as_progress
from ellzero.base.quoting import shown
from ellzero.cli.inspection import quoted_name, row_names, suspected_codes, useless_columns
from ellzero.cli.output import note
from ellzero.cli.preparation import (
    Gap,
    MatrixPreparation,
    TablePreparation,
    learn_medians,
    learn_table,
    left_out_in_words,
    table_notes,
)
from ellzero.cli.questions import learn_questions
from ellzero.cli.tables import Columns, Matrix, Reading, Table, format_to_read, read_data
from ellzero.tables.arrays import named_vector
from ellzero.tables.columns import as_numbers, check_presence, first_names, worded
from ellzero.tables.optional import need
from ellzero.tables.target import as_labels, column_labels, column_response, finite_response, is_label


@dataclass(frozen=True)
class Data:
    """The data of a fit, with the names of its target and its features."""

    X: Any  # a data frame with the features' names, a matrix, a sparse matrix or a column store
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    target: str
    preparation: TablePreparation | MatrixPreparation
    identifiers: list[str] = field(default_factory=list)  # columns of whole numbers that are different in every row
    unlabelled: int = 0  # rows without a target, which were left out
    positive: Any = None  # the label that --positive names, as the target has it
    gaps: list[Gap] | None = None  # None: of a column store, which does not say what was filled when it was written
    notes: tuple[str, ...] = ()  # what was made of the columns, in sentences

    def features_of(self, columns: list[str], option: str = "--always") -> NDArray[np.int64]:
        """Return the indices of the features that columns (or features) of these names became; `option` names them."""
        features = self.preparation.features
        place = {name: j for j, name in enumerate(features)}
        found: list[int] = []
        for column in columns:
            names = self.preparation.features_of(column)
            if any(name not in place for name in names):
                raise InvalidInputError(f"{option} names {column!r}, which is no column that is used.")
            found += [place[name] for name in names]
        return np.array(sorted(set(found)), dtype=np.int64)


def load_data(args: argparse.Namespace, *, classes: int | None = None, keep_labels: bool = False) -> Data:
    """Read the data of a fit.

    There may be at most `classes` classes, any number if it is None; --positive tells one class from all others. The target is
    then a mask or, with `keep_labels`, has the user's two labels; of more, all but the positive one become "not LABEL".
    """
    positive = getattr(args, "positive", None)
    if args.regression and positive is not None:
        raise InvalidInputError("--positive is for classes, not for --regression.")
    source = read_data(make_reading(args))
    if isinstance(source, Columns):
        data = from_columns(source, args)
    else:
        data = from_table(source, args) if isinstance(source, Table) else from_matrix(source, args)
    if args.regression:
        return data
    if positive is None:
        labels = data.y
    else:
        mask = is_label(data.y, positive, data.target)
        label = str(data.y[mask][0])
        labels = data.y if len(np.unique(data.y)) <= 2 else np.where(mask, label, f"not {label}")
        labels = labels if keep_labels else mask
        data = replace(data, positive=labels[mask][0].item())
    return replace(data, y=as_labels(labels, data.target, classes, insist=getattr(args, "classes", False)))


def make_reading(args: argparse.Namespace, **known: Any) -> Reading:
    """Return the options of the command line for reading a file; `known` replaces some of them."""
    text = {getattr(args, "target", None), *getattr(args, "categorical", ())} - {None}
    return Reading(
        **{
            "source": args.data,
            "format": args.format or format_to_read(args.data),
            "separator": args.separator,
            "decimal": args.decimal,
            "encoding": args.encoding,
            "missing": tuple(args.missing),
            "text": frozenset(text),
            "progress": as_progress(not args.quiet, f"reading {shown(args.data)}"),
            **known,
        }
    )


def from_table(table: Table, args: argparse.Namespace) -> Data:
    """Return the data of a table, whose columns are found by name."""
    source = table.source
    if args.target is None:
        raise InvalidInputError(
            f"--target must name the column of {source} to predict; its columns are {first_names(table.frame.columns)}."
        )
    check_presence(table.frame, [args.target], source, "--target: ")
    frame = labelled_rows(table.frame, table.frame[args.target].isna().to_numpy(), args)
    check_presence(frame, args.drop, source, "--drop: ")
    weight = None
    if args.weight is not None:
        check_presence(frame, [args.weight], source, "--weight: ")
        weight = as_numbers(frame[args.weight], source)
        if np.isnan(weight).any():
            raise InvalidInputError(f"--weight: column {args.weight!r} of {source} has missing values.")
    rest = frame.drop(columns=list({args.target, *args.drop, args.weight} - {None}))
    rest = without_row_numbers(rest, source, args)
    check_presence(rest, args.categorical, f"{source} without its target, its weights and what is dropped", "--categorical: ")
    left_out = useless_columns(rest, set(args.categorical))
    rest = rest.drop(columns=[name for names in left_out.values() for name in names])
    if not rest.shape[1]:
        raise InvalidInputError(f"{source} has no columns to use besides the target{left_out_in_words(left_out)}.")
    if getattr(args, "questions", False):
        preparation: TablePreparation = learn_questions(rest, source, args)
    else:
        how = {"impute": args.impute != "none", "one_hot": args.one_hot is not False}
        preparation = learn_table(rest, source, **how, categorical=set(args.categorical))
    others = [name for name in frame.columns if name not in (args.target, args.weight) and not name.startswith("Unnamed: ")]
    names = tuple(row_names(frame, others))
    preparation = replace(preparation, identifiers=names, missing=tuple(args.missing))
    gaps = preparation.gaps(rest)
    notes = table_notes(left_out, preparation, gaps)
    X = with_names(preparation, *preparation.apply(rest, source), args)
    for text in (*table.notes, *notes):
        note(args, text)
    warn_of_codes(rest, preparation)
    target = frame[args.target]
    y = column_response(target, source, table.decimal) if args.regression else column_labels(target)
    identifiers = likely_identifiers(rest, preparation)
    unlabelled = len(table.frame) - len(frame)
    return Data(X, y, weight, args.target, preparation, identifiers, unlabelled, gaps=gaps, notes=tuple(notes))


def warn_of_codes(frame: Any, preparation: TablePreparation) -> None:
    """Warn of numbers that seem to mean a missing value."""
    for code, names in suspected_codes(frame, list(preparation.numbers)).items():
        where, several = "below zero" if code < 0 else "near it", len(names) > 1
        warnings.warn(
            f"{worded(names)} {'hold' if several else 'holds'} {code} in several rows and nothing else {where}; if it means a "
            f"missing value, add --missing={code}.",
            stacklevel=2,
        )


def labelled_rows(rows: Any, missing: NDArray[np.bool_], args: argparse.Namespace) -> Any:
    """Return the rows that have a target if --drop-unlabelled was given, otherwise all of them."""
    if not args.drop_unlabelled or not missing.any():
        return rows
    if missing.all():
        raise InvalidInputError(f"target {args.target or 'y'!r} is missing in all {len(missing)} rows.")
    note(args, f"{int(missing.sum())} of {len(missing)} rows have no target and are left out.")
    return rows[~missing].reset_index(drop=True) if hasattr(rows, "reset_index") else rows[~missing]


def likely_identifiers(frame: Any, preparation: TablePreparation) -> list[str]:
    """Return the features that are different whole numbers in every row, and warn of them: few features are like that."""
    rows, numbers = len(frame), {*preparation.numbers}
    found = [name for name in preparation.identifiers if name in numbers]
    if found:
        several = len(found) > 1
        warnings.warn(
            f"{worded(found)} {'hold' if several else 'holds'} a different whole number in each of the {rows} rows, as "
            f"identifiers do; if {'they are' if several else 'it is'} no measurement{'s' * several}, add --ignore "
            f"{shlex.quote(','.join(map(quoted_name, found)))}.",
            stacklevel=2,
        )
    return found


def without_row_numbers(frame: Any, source: str, args: argparse.Namespace) -> Any:
    """Leave out a first column without a name that counts the rows: spreadsheets and pandas write it, and it is no feature."""
    first = frame.columns[0] if frame.shape[1] else ""
    if not str(first).startswith("Unnamed: "):
        return frame
    rows = np.arange(len(frame))
    if frame[first].dtype.kind not in "iu" or not any((frame[first].to_numpy() == rows + base).all() for base in (0, 1)):
        return frame
    note(args, f"the first column of {source} has no name and counts the rows; it is left out.")
    return frame.drop(columns=[first])


def with_names(preparation: TablePreparation, X: Any, notes: list[str], args: argparse.Namespace) -> Any:
    """Return dense features as a data frame with their names, sparse ones unchanged; print the notes."""
    for text in notes:
        note(args, text)
    return need("pandas").DataFrame(X, columns=preparation.features, copy=False) if isinstance(X, np.ndarray) else X


def from_matrix(matrix: Matrix, args: argparse.Namespace) -> Data:
    """Return the data of a matrix; target and weights are arrays of the file, or .npy files."""
    refuse_table_options(args, matrix.source, "the columns of {} have no names")
    if matrix.labelled and args.target not in (None, "y"):
        raise InvalidInputError(f"--target is not for svmlight: the lines of {matrix.source} begin with their labels.")
    name = args.target or "y"
    y = row_values(matrix, name, "--target")
    weight = row_weight(matrix, args)
    missing = np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), dtype=bool)
    raw = labelled_rows(matrix.X.tocsr() if sparse.issparse(matrix.X) and missing.any() else matrix.X, missing, args)
    unlabelled = len(y) - raw.shape[0]
    if unlabelled:
        y, weight = y[~missing], None if weight is None else weight[~missing]
    gaps = raw.dtype.kind == "f" and np.isnan(raw.data if sparse.issparse(raw) else raw).any()
    medians = learn_medians(raw) if args.impute == "median" or (gaps and args.impute is None) else ()
    preparation = MatrixPreparation(raw.shape[1], matrix.first, medians)
    filled = preparation.gaps(raw)
    for gap in filled:
        if gap.rows == raw.shape[0]:
            raise InvalidInputError(f"{matrix.source} has no values at all in {gap.column}.")
    X = preparation.apply(raw, matrix.source)
    notes = table_notes({}, preparation, filled)
    for text in notes:
        note(args, text)
    y = finite_response(y, name) if args.regression else y
    return Data(X, y, weight, name, preparation, unlabelled=unlabelled, gaps=filled, notes=tuple(notes))


def refuse_table_options(args: argparse.Namespace, source: str, reason: str) -> None:
    """Refuse options that are for tables in memory only; `reason` says why."""
    for option in ("drop", "categorical", "missing"):
        if getattr(args, option):
            raise InvalidInputError(f"--{option} is for tables: {reason.format(source)}.")
    if args.one_hot:
        raise InvalidInputError(f"--one-hot is for tables: {source} holds numbers only.")


def from_columns(columns: Columns, args: argparse.Namespace) -> Data:
    """Return the data of a column store, with its own target or one from a .npy file; X stays on the disk."""
    X, source = columns.X, columns.source
    refuse_table_options(args, source, "the columns of {} are used unchanged")
    if args.impute == "median":
        raise InvalidInputError(
            f"--impute is for data that is read into memory; {source} is used as 'ellzero convert' wrote it."
        )
    if args.drop_unlabelled:
        raise InvalidInputError(
            f"--drop-unlabelled is for data that is read into memory; convert {source} again with --drop-unlabelled."
        )
    arrays = {} if X.y is None else {X.target or "y": X.y}
    target = args.target or next(iter(arrays), "")
    if target not in arrays and not target.endswith(".npy"):
        has = f"has the target {next(iter(arrays))!r}; name it or" if arrays else "has no target; name"
        raise InvalidInputError(f"--target: {source} {has} a .npy file.")
    beside = Matrix(source, X, arrays)
    y = row_values(beside, target, "--target")
    weight = row_weight(beside, args)
    preparation = TablePreparation(tuple(X.names)) if X.names else MatrixPreparation(X.shape[1], 0)
    return Data(X, finite_response(y, target) if args.regression else y, weight, target, preparation)


def row_weight(matrix: Matrix, args: argparse.Namespace) -> NDArray[Any] | None:
    """Return the weights of the rows, if any were named."""
    return None if args.weight is None else row_values(matrix, args.weight, "--weight")


def row_values(matrix: Matrix, name: str, option: str) -> NDArray[Any]:
    """Return a vector with an entry for each row: an array of the file, or a .npy file."""
    values = named_vector(name, matrix.arrays, matrix.arrays.__getitem__, matrix.source, option)
    if len(values) != matrix.X.shape[0]:
        raise InvalidInputError(f"{option}: {name!r} has shape {values.shape}, the matrix has {matrix.X.shape[0]} rows.")
    return values


def load_new_data(
    args: argparse.Namespace, preparation: TablePreparation | MatrixPreparation | None, n_features: int, used: set[str] | None
) -> tuple[Any, Any]:
    """Return the features of new data, prepared as those of the fit were, and the table itself (None for a matrix)."""
    known: dict[str, Any] = {}
    if isinstance(preparation, TablePreparation):
        kept = {*preparation.categories, *preparation.identifiers, *args.keep}
        missing = tuple(args.missing) or preparation.missing
        known = {"text": frozenset(kept - {*preparation.numbers}), "missing": missing}
    elif isinstance(preparation, MatrixPreparation):
        known = {"first": preparation.first, "n_features": n_features}
    source = read_data(make_reading(args, **known))
    if isinstance(source, Columns):
        return new_columns(source, preparation, n_features, used), None
    if isinstance(source, Matrix):
        if isinstance(preparation, TablePreparation):
            raise InvalidInputError(f"the model was fitted on a table with named columns, {source.source} has none.")
        plain = preparation or MatrixPreparation(n_features, source.first)
        return plain.apply(source.X, source.source, new=True), None
    if isinstance(preparation, TablePreparation):
        return with_names(preparation, *preparation.apply(source.frame, source.source, used), args), source.frame
    raise InvalidInputError(f"the model was fitted on a matrix without names, {source.source} is a table.")


def new_columns(
    columns: Columns, preparation: TablePreparation | MatrixPreparation | None, n_features: int, used: set[str] | None
) -> Any:
    """Return a store that has the model's features, or else a matrix that holds those that the model uses, found by name.

    Other columns are not read, and are zero in the matrix.
    """
    X, source = columns.X, columns.source
    if not isinstance(preparation, TablePreparation):
        if X.shape[1] != n_features:
            raise InvalidInputError(f"{source} has {X.shape[1]} features, the model was fitted on {n_features}.")
        return X
    if X.names is None:
        raise InvalidInputError(f"the model was fitted on a table with named columns, {source} has none.")
    features = preparation.features
    if X.names == features and not preparation.medians:
        return X
    wanted = [j for j, name in enumerate(features) if used is None or name in used]
    places = {name: j for j, name in enumerate(X.names)}
    absent = [features[j] for j in wanted if features[j] not in places]
    if absent:
        raise InvalidInputError(f"{source} has no {worded(absent)}, which the model uses.")
    wanted.sort(key=lambda j: places[features[j]])  # columns are taken in increasing order
    taken = X.take(np.array([places[features[j]] for j in wanted], dtype=np.int64)) if wanted else np.zeros((X.shape[0], 0))
    values = preparation.only(wanted).without_gaps(np.asfortranarray(taken, dtype=np.float64), new=True)
    spread = sparse.csr_matrix((np.ones(len(wanted)), wanted, np.arange(len(wanted) + 1)), (len(wanted), n_features))
    return sparse.csc_matrix(sparse.csc_matrix(values) @ spread)
