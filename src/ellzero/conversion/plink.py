"""Reader of PLINK's binary genotypes (.bed with .bim and .fam), which are stored by columns: nothing is transposed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.reading import open_file
from ellzero.conversion.content import DenseContent, Report
from ellzero.conversion.labels import Labels
from ellzero.conversion.plan import Plan
from ellzero.tables.columns import check_presence
from ellzero.tables.formats import inner_suffix
from ellzero.tables.optional import need
from ellzero.tables.streams import readable
from ellzero.tables.text import explained, reading_options

MISSING = -127  # the int8 that bed-reader returns for a missing genotype
UNKNOWN = ("-9", "NA", "NaN", "nan", "")  # words of the .fam file for a missing phenotype
NEIGHBOURS = (".bim", ".fam")  # endings of the files next to the genotypes
PHENOTYPE = "phenotype"


def genotypes(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> DenseContent:
    """Read the counts of each variant's first allele (A1 of the .bim file): 0, 1 or 2."""
    plan.refuse("drop", "separator")
    reader = need("bed_reader", "plink")
    with readable(plan.shown, "PLINK genotypes"):
        for file in (Path(plan.source), *map(Path(plan.source).with_suffix, NEIGHBOURS)):
            open_file(file).close()  # bed-reader never returns from a folder
        bed = stack.enter_context(reader.open_bed(plan.source, num_threads=1))
        n, p = bed.shape
        names = variant_names(bed)
    if not n or not p:
        raise InvalidInputError(f"{plan.shown} has no {'variants' if n else 'samples'}.")
    labels, keep = Labels(plan), np.arange(n)
    column = phenotypes(plan, bed) if plan.target_file is None else from_file(plan, bed)
    labelled = bool(column.notna().any())
    if labelled:
        keep = np.flatnonzero(labels.append(column))
    dtype = plan.dtype or "int8"

    def pieces(first: int, last: int) -> Iterator[NDArray[Any]]:
        rows = slice(None) if len(keep) == n else keep
        with readable(plan.shown, "PLINK genotypes"):
            block = bed.read(index=(rows, slice(first, last)), dtype=dtype, order="F")
        yield block

    return DenseContent(
        source=plan.shown,
        n=len(keep),
        p=p,
        names=names,
        y=labels.joined() if labelled else None,
        target=plan.target or PHENOTYPE if labelled else None,
        dtype=dtype,
        pieces=pieces,
        missing=MISSING if dtype == "int8" else None,
    )


def variant_names(bed: Any) -> list[str]:
    """Return the variants' ids; one that is missing or not unique becomes position and alleles, with a number if need be."""
    names = [str(name) for name in bed.sid]
    counts = Counter(names)
    places = zip(bed.chromosome, bed.bp_position, bed.allele_1, bed.allele_2, strict=True)
    names = [
        ":".join(map(str, place)) if name in (".", "") or counts[name] > 1 else name
        for name, place in zip(names, places, strict=True)
    ]
    counts = Counter(names)
    return [f"{name}#{j + 1}" if counts[name] > 1 else name for j, name in enumerate(names)]


def phenotypes(plan: Plan, bed: Any) -> Any:
    """Return the last column of the .fam file, None where it says missing.

    If all values are 0, 1 and 2, then 1 means control, 2 case and 0 missing. With other values, 0 is a number like any other.
    """
    if plan.target not in (None, PHENOTYPE):
        raise InvalidInputError("target names a column of target_file; without one it is the phenotype of the .fam file.")
    pandas = need("pandas", "plink")
    with readable(plan.shown, "PLINK genotypes"):
        column = pandas.Series([str(value) for value in bed.pheno], name=PHENOTYPE, dtype=object)
    absent = column.isin(UNKNOWN)
    if not plan.regression and set(column[~absent]) <= {"0", "1", "2"}:
        absent |= column == "0"
    return column.mask(absent, None)


def from_file(plan: Plan, bed: Any) -> Any:
    """Return a column of a table of samples, which are found by their IID (and FID, if the table has it)."""
    pandas = need("pandas", "plink")
    name = str(plan.target_file)
    suffix = inner_suffix(name)
    kind, separator = ("csv", None) if suffix == ".csv" else ("tsv", None) if suffix in (".tsv", ".tab") else ("csv", "space")
    options = reading_options(kind, separator, plan.encoding)
    with explained(name, plan.encoding):
        frame = pandas.read_csv(name, dtype=str, na_values=["-9", *plan.missing], **options)
    frame.columns = [str(column).lstrip("#") for column in frame.columns]
    if plan.target is None:
        raise InvalidInputError(f"target must name the column of {name} to predict; it has {', '.join(frame.columns[:10])}.")
    check_presence(frame, ["IID", plan.target], name)
    keys = [key for key in ("FID", "IID") if key in frame.columns]
    twice = frame.loc[frame.duplicated(keys), "IID"].tolist()
    if twice:
        raise InvalidInputError(f"{name} has more than one row for sample {twice[0]!r}.")
    with readable(plan.shown, "PLINK genotypes"):
        samples = pandas.DataFrame({"FID": [str(v) for v in bed.fid], "IID": [str(v) for v in bed.iid]})
    column = samples[keys].merge(frame[list(dict.fromkeys([*keys, plan.target]))], on=keys, how="left")[plan.target]
    if column.isna().all():
        raise InvalidInputError(f"no sample of {plan.shown} is in {plan.target_file}, or has a value there.")
    return column
