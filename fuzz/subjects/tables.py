"""Conversion of tables to column stores: the numbers, names and labels that come out are those that went in."""

from __future__ import annotations

import csv
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import ellzero as ez
from fuzz.problems.problem import Problem
from fuzz.records import Case, Record

__all__ = ["CONVERT_CALLS", "draw_convert", "draw_names", "judge_convert", "write_table"]

Generator = np.random.Generator
CONVERT_CALLS = """
print("see fuzz/subjects/tables.py: the table is written from X, y and the names in options, then converted")
"""
ODD_NAMES = ("a,b", 'quo"te', " space ", "ünï", "=1+1", "x" * 60, "-", "1", "tab\tname", "naïve;semicolon", "#", "None", "nan")


def draw_names(rng: Generator, p: int) -> list[str]:
    """Return names of columns, some of them odd, all different."""
    plain = [f"x{j}" for j in range(p)]
    if rng.random() < 0.5:
        for name in rng.choice(ODD_NAMES, min(p, 3), replace=False):
            plain[int(rng.integers(p))] = str(name)
    return [name if plain.index(name) == j else f"{name} {j}" for j, name in enumerate(plain)]


def draw_convert(rng: Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return data and the format of the file that it is converted from."""
    kind = str(rng.choice(["csv", "tsv", "npz", "svmlight"]))
    options: dict[str, Any] = {"format": kind, "names": draw_names(rng, problem.X.shape[1]), "storage": "columns"}
    options["separator"] = str(rng.choice([",", ";"])) if kind == "csv" else None
    return replace(problem, lambda_0=None, k=None, bound=None), options


def write_table(path: Path, problem: Problem, names: list[str], kind: str, separator: str | None = None) -> None:
    """Write X and y, with all digits, as a table in one of the formats; the target is called `target`."""
    target = [str(label) for label in problem.y.tolist()]
    if kind in ("csv", "tsv"):
        with open(path, "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, delimiter="\t" if kind == "tsv" else separator or ",")
            writer.writerow([*names, "target"])
            writer.writerows([*map(repr, row), label] for row, label in zip(problem.X.tolist(), target, strict=True))
    elif kind == "npz":
        np.savez(path, X=problem.X, y=problem.y)
    else:
        codes = problem.y if problem.y.dtype.kind in "fi" else np.unique(problem.y, return_inverse=True)[1]
        rows = sparse.csr_matrix(problem.X)
        with open(path, "w", encoding="utf-8") as stream:
            for label, first, last in zip(codes.tolist(), rows.indptr[:-1], rows.indptr[1:], strict=True):
                part = zip(rows.indices[first:last].tolist(), rows.data[first:last].tolist(), strict=True)
                stream.write(" ".join([repr(label), *(f"{j + 1}:{value!r}" for j, value in part)]) + "\n")


def judge_convert(case: Case, record: Record) -> None:
    """Convert a file, and compare what the store holds."""
    problem, options = case.problem, case.options
    kind = options["format"]
    names = options["names"][: problem.X.shape[1]]
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        source, out = Path(folder) / f"table.{kind}", Path(folder) / "table.columns"
        write_table(source, problem, names, kind, options["separator"])
        extra: dict[str, Any] = {"separator": options["separator"]} if options["separator"] else {}
        ez.convert(
            source,
            out,
            format=kind,
            target=None if kind in ("npz", "svmlight") else "target",
            dtype="float64",
            regression=not problem.is_classification,
            **extra,
        )
        store = ez.open_columns(out)
        found = store[:, np.arange(store.shape[1])]
        found = found.toarray() if sparse.issparse(found) else np.asarray(found)
        stated, named = store.y, store.names
    expected = problem.X
    if kind == "svmlight":  # empty columns at the end cannot be known
        expected = expected[:, : found.shape[1]]
        if problem.X[:, found.shape[1] :].any():
            record.find("columns are lost", "high", f"{found.shape[1]} of {problem.X.shape[1]}")
    if found.shape != expected.shape or not np.array_equal(found, expected):
        record.find("other numbers after a conversion", "high", f"{kind}: {found.tolist()} instead of {expected.tolist()}")
    # Spaces after a separator are layout, unless the name is in quotation marks; all others belong to the name.
    if kind in ("csv", "tsv") and [str(name) for name in named or []] != [name.lstrip(" ") for name in names]:
        record.find("other names after a conversion", "medium", f"{kind}: {named} instead of {names}")
    if stated is not None and not problem.is_classification and not np.array_equal(np.asarray(stated), problem.y):
        record.find("another target after a conversion", "high", f"{kind}: {np.asarray(stated).tolist()}")
