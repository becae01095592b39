"""Proofs for tables: one-hot columns and bins, drawn ones and real ones, and enumerations where rows are few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.exact_data import load, missing
from benchmarks.exact_real import entry
from benchmarks.exact_runs import GAP, Job, Outcome, seconds_shown
from benchmarks.sections import Report, Section, arguments_of
from experiments.measurement.markdown import table

INTRODUCTION = """# Proofs for tables

Made by `make bench-tables`; `ELLZERO_DATA` names the folder with real data. Every solve is in a separate process, with
`n_jobs=2` and `gap=0.0001`; an entry is the gap that is left and the seconds that it took. Gaps are (objective - lower bound) /
objective. The problems are a sample of a larger grid, so that all takes some 20 minutes.
"""
BASE: dict[str, Any] = {"gap": GAP, "n_jobs": 2}
# rows, attributes, most levels, k, n * lambda_2
DRAWN = [
    (2_000, 10, 12, 4, 1.0),
    (2_000, 20, 6, 8, 10.0),
    (5_000, 14, 9, 6, 1.0),
    (5_000, 40, 4, 12, 10.0),
    (20_000, 30, 8, 6, 1.0),
    (20_000, 20, 12, 10, 10.0),
    (100_000, 10, 9, 8, 1.0),
    (100_000, 40, 12, 12, 10.0),
]
SEEDS = {"squared_error": (1, 2), "logistic": (1,)}
ROWS_OF_LABELS = 2_000  # the logistic loss is tried on tables of at most so many rows
REAL = ("COMPAS", "heart", "diabetes")
SIZES = (4, 8)
HEADER = ["data", "loss", "k", "lambda_2", "gap (seconds)", "nodes", "objective", "MB", "seconds of `verify`"]


def solved(section: Section, header: str, cells: Sequence[tuple[dict[str, Any], dict[str, Any]]], verify: bool) -> None:
    """Solve data with options, lambda_2 as that of the sum over rows, and add a table of the results."""
    rows = {str(data): len(load(data)[1]) for data, _ in cells}
    options = [asked | BASE | {"lambda_2": asked["lambda_2"] / rows[str(data)]} for data, asked in cells]
    jobs = [Job(data, asked, verify=verify) for (data, _), asked in zip(cells, options, strict=True)]
    results = section.solve_all(jobs)
    lines = [row(data, asked, result) for (data, asked), result in zip(cells, results, strict=True)]
    proved = [result.seconds for result in results if isinstance(result, Outcome) and result.status == "optimal"]
    shares = ", ".join(f"{sum(each <= most for each in proved)} within {most} s" for most in (1, 10, 60))
    section.text += f"{header}\n\n{table(HEADER, lines)}\n\nClosed, of {len(results)}: {shares}."


def row(data: dict[str, Any], asked: dict[str, Any], result: Outcome | str) -> list[str]:
    told = ", ".join(str(value) for key, value in data.items() if key != "response")
    start = [told, asked["loss"].replace("_", " "), str(asked["k"]), f"{asked['lambda_2']:g} / n"]
    if isinstance(result, str):
        return [*start, result, *["-"] * 4]
    size = "-" if result.certificate_bytes is None else f"{result.certificate_bytes / 1e6:.2f}"
    verified = "-" if result.verify_seconds is None else seconds_shown(result.verify_seconds)
    return [*start, entry(result), f"{result.nodes:,}", f"{result.objective:.6f}", size, verified]


FICO = """FICO's HELOC data with a column for each code of a missing value and for each tenth of the others, as on
[the exact solver's page](exact.md); at most {limit:g} s each. Targets for the squared error: k = 5 closed in 1 s (1 / n) and
0.5 s (10 / n); k = 10 closed in 10 s (10 / n), and at most 1.2 % left after 30 s (1 / n)."""


def fico(quick: bool) -> Section:
    section, limit = Section("FICO"), 3.0 if quick else 30.0
    if without := missing("FICO"):
        section.text = without
        return section
    cells = [("squared_error", k, shrinkage) for k in (5, 10) for shrinkage in (1.0, 10.0)]
    cells += [("logistic", k, 10.0) for k in (5, 10)]
    asked = [{"loss": loss, "k": k, "lambda_2": shrinkage, "time_limit": limit} for loss, k, shrinkage in cells]
    solved(section, FICO.format(limit=limit), [({"kind": "FICO"}, each) for each in asked[: 2 if quick else None]], True)
    return section


ONE_HOT = """Correlated attributes of two levels or more, a column for each level, half of which matter; the numbers after the
kind are rows, attributes, the most levels and the seed. At most {limit:g} s each; the logistic loss for tables of at most
{most:,} rows."""


def one_hot(quick: bool) -> Section:
    section, limit = Section("One-hot tables"), 3.0 if quick else 60.0
    cells = []
    for loss, seeds in SEEDS.items():
        for n, attributes, levels, k, shrinkage in DRAWN[: 2 if quick else None]:
            if loss == "logistic" and n > ROWS_OF_LABELS:
                continue
            for seed in seeds:
                data = {"kind": "one-hot", "n": n, "attributes": attributes, "levels": levels, "response": loss, "seed": seed}
                cells.append((data, {"loss": loss, "k": k, "lambda_2": shrinkage, "time_limit": limit}))
    solved(section, ONE_HOT.format(limit=limit, most=ROWS_OF_LABELS), cells, False)
    return section


REAL_TEXT = """Every value of an attribute with at most twelve of them has a column, and every tenth of the others. At most
{limit:g} s each."""


def real(quick: bool) -> Section:
    section, limit = Section("COMPAS, heart and diabetes"), 2.0 if quick else 10.0
    cells = []
    for name in REAL:
        if name != "diabetes" and (without := missing(name)):
            section.text += f"{without}\n\n"
            continue
        for loss in ("squared_error",) if name == "diabetes" else ("squared_error", "logistic"):
            for k in SIZES[: 2 if quick else None]:
                cells.append(({"kind": name}, {"loss": loss, "k": k, "lambda_2": 1.0, "time_limit": limit}))
    solved(section, REAL_TEXT.format(limit=limit), cells, True)
    return section


FEW_ROWS = """Riboflavin: 71 rows, 4,088 genes, squared error, columns and response centred and of unit norm. Colon (62 rows,
2,000 genes) and leukemia (72 rows, 7,129 genes): squared hinge, standardised columns. At most {limit:g} s each."""


def few_rows(quick: bool) -> Section:
    section, limit = Section("Few rows"), 2.0 if quick else 30.0
    asked: list[tuple[str, dict[str, Any]]] = [
        ("riboflavin", {"loss": "squared_error", "k": 3, "lambda_2": 0.01, "fit_intercept": False}),
        *((name, {"loss": "squared_hinge", "k": 2, "lambda_2": shrinkage, "standardize": True})
          for name in ("colon", "leukemia") for shrinkage in (0.1, 1.0)),
    ]  # fmt: skip
    there = [(name, options) for name, options in asked if not missing(name)]
    cells = [({"kind": name}, options | {"time_limit": limit}) for name, options in there]
    solved(section, FEW_ROWS.format(limit=limit), cells, False)
    return section


def main() -> None:
    report = Report("tables", arguments_of(__doc__).parse_args())
    quick = report.quick
    sections: dict[str, Callable[[], Section]] = {
        "fico": lambda: fico(quick),
        "one-hot": lambda: one_hot(quick),
        "real": lambda: real(quick),
        "few-rows": lambda: few_rows(quick),
    }
    report.write(INTRODUCTION, sections)


if __name__ == "__main__":
    main()
