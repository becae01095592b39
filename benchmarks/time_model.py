"""The model of time of docs/design/time.md, which shows some of its lines: predicted against measured, and larger X.

    python -m benchmarks.time_model

prints the tables of that page. The cases are lines of the tables in benchmarks/results. The rates of a place are fitted to some
of its lines, by least squares of the logarithms, and the others are predicted by them. Looks, rankings and the work on few
columns were counted on the device at p = 1,000,000; the other cases take those of the fit of the same kind and number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares

from experiments.measurement.markdown import table

GIGA = 1e9
BYTES_PER_COLUMN = 320.0  # that a look at all columns moves on a host: products with the directions, radii, gains


@dataclass(frozen=True)
class Place:
    """The rates of where X is, and of the host that solves."""

    name: str
    bandwidth: float  # bytes of X a second, once it is at hand
    entries: float  # entries of X a second: what the processors manage, half as many if these are int8
    wide: float = 1.0  # a pass with many vectors takes that many times as long
    first: float = 0.0  # bytes a second of the first two passes, where they come from a disk
    pass_overhead: float = 0.0  # seconds for each task of a pass
    fetch: float = 0.0  # bytes a second of single columns, where they travel far
    look: float = 0.0  # seconds of a look at all columns, besides
    columns: float = 1.0 * GIGA  # bytes a second of numbers for every column
    rank: float = 0.0  # seconds to rank the swaps of a model, for each million columns
    once: float = 0.0  # seconds for each million columns, once in a fit


@dataclass(frozen=True)
class Run:
    """What a fit asks for."""

    name: str
    n: int
    p: int
    size: int  # bytes of an entry
    passes: float
    looks: int  # at all columns: tests of the screening
    small: float  # seconds on few columns: refits, the search among selected ones
    wide: float = 0.0  # passes with many vectors among them
    ranks: int = 0
    tasks: int = 0  # of a pass
    fetched: int = 0  # columns that travelled

    @property
    def nbytes(self) -> float:
        return float(self.n) * self.p * self.size

    def seconds(self, place: Place) -> float:
        """Return the time that the model says."""
        rate = place.entries if self.size > 1 else 0.5 * place.entries
        one = max(self.nbytes / place.bandwidth, self.nbytes / self.size / rate)
        slow = min(2.0, self.passes) if place.first else 0.0
        passes = (self.passes - slow + (place.wide - 1.0) * self.wide) * one
        passes += slow * max(one, self.nbytes / place.first if place.first else 0.0)
        passes += self.passes * self.tasks * place.pass_overhead
        looks = self.looks * (place.look + self.p * BYTES_PER_COLUMN / place.columns)
        far = self.fetched * self.n * self.size / place.fetch if place.fetch else 0.0
        return passes + looks + far + self.p / 1e6 * (self.ranks * place.rank + place.once) + self.small


def disk(rate: float) -> Place:
    """A file on a disk of some bytes a second, most of it in the system's cache after two passes; two cores."""
    return Place("file, 2 cores", 5.0 * GIGA, 4.0 * GIGA, first=rate * GIGA, columns=20.0 * GIGA, rank=0.2)


MEMORY = Place("memory, 2 cores", 12.0 * GIGA, 4.0 * GIGA, columns=20.0 * GIGA, rank=0.2)
DASK = Place("Dask, 2 workers", 12.0 * GIGA, 4.0 * GIGA, pass_overhead=6e-3, fetch=0.15 * GIGA, columns=20.0 * GIGA)
CORES = Place("memory, 16 cores", 71.0 * GIGA, 20.0 * GIGA, columns=100.0 * GIGA, rank=25e-3, once=0.05)
DEVICE = Place("one H200", 4.3e12, 1.1e12, wide=1.4, look=3e-4, columns=3e12, rank=1e-3, once=0.03)

FREE = {  # the rates that are fitted; those of passes on the device, and of the disk, were measured by themselves
    MEMORY.name: ("entries", "rank"),
    "file, 2 cores": ("bandwidth", "entries"),
    DASK.name: ("pass_overhead", "fetch"),
    CORES.name: ("bandwidth", "columns", "rank"),
    DEVICE.name: ("look", "rank", "once"),
}


@dataclass(frozen=True)
class Case:
    """A line of a table."""

    place: Place
    run: Run
    seconds: float
    fitted: bool = False  # whether rates were fitted to it


CASES = [
    Case(MEMORY, Run("cd", 1_000, 500_000, 4, 7, 90, 0.1), 1.59, fitted=True),
    Case(MEMORY, Run("local search", 1_000, 500_000, 4, 20, 100, 0.4, ranks=10), 5.31, fitted=True),
    Case(disk(1.34), Run("cd", 1_000, 500_000, 4, 7, 90, 0.1), 5.36),
    Case(disk(1.34), Run("local search", 1_000, 500_000, 4, 20, 100, 0.4, ranks=10), 13.50),
    Case(disk(1.46), Run("cd, given grid", 10_000, 500_000, 4, 3, 60, 0.2), 36.8),
    Case(disk(1.46), Run("cd", 10_000, 500_000, 4, 12, 80, 0.2), 73.4, fitted=True),
    Case(disk(1.46), Run("local search", 10_000, 500_000, 4, 22, 90, 1.0, ranks=30), 121.1),
    Case(disk(0.90), Run("cd, given grid", 10_000, 2_000_000, 1, 4, 60, 0.2), 58.1),
    Case(disk(0.90), Run("cd", 10_000, 2_000_000, 1, 13, 80, 0.2), 170.1, fitted=True),
    Case(disk(1.34), Run("cd, given grid", 1_000, 5_000_000, 4, 3, 40, 0.1), 43.3),
    Case(disk(1.34), Run("cd", 1_000, 5_000_000, 4, 25, 90, 0.1), 145.1),
    Case(disk(1.46), Run("solve, k = 5", 10_000, 500_000, 4, 15, 20, 1.0), 62.6),
    Case(DASK, Run("cd, blocks of 5,000", 1_000, 200_000, 8, 3, 30, 0.1, tasks=40, fetched=4416), 1.60, fitted=True),
    Case(DASK, Run("cd, blocks of 25,000", 1_000, 200_000, 8, 3, 30, 0.1, tasks=8, fetched=4416), 0.96),
    Case(DASK, Run("cd, blocks of 100,000", 1_000, 200_000, 8, 3, 30, 0.1, tasks=2, fetched=4416), 1.01, fitted=True),
    Case(CORES, Run("cd", 1_000, 1_000_000, 4, 10.8, 94, 0.03), 0.82, fitted=True),
    Case(CORES, Run("local search, quick", 1_000, 1_000_000, 4, 22.8, 101, 0.25, ranks=32), 2.66, fitted=True),
    Case(CORES, Run("cd", 10_000, 1_000_000, 4, 9.5, 80, 0.08), 5.68, fitted=True),
    Case(CORES, Run("local search, quick", 10_000, 1_000_000, 4, 20.5, 90, 0.69, ranks=32), 16.37),
    Case(DEVICE, Run("cd", 1_000, 1_000_000, 4, 10.8, 94, 0.03, wide=1), 0.17, fitted=True),
    Case(DEVICE, Run("local search, quick", 1_000, 1_000_000, 4, 23.8, 101, 0.25, wide=6, ranks=32), 0.52, fitted=True),
    Case(DEVICE, Run("cd", 10_000, 1_000_000, 4, 9.5, 80, 0.08, wide=1), 0.32),
    Case(DEVICE, Run("local search, quick", 10_000, 1_000_000, 4, 21.5, 90, 0.69, wide=6, ranks=32), 1.11),
    Case(DEVICE, Run("cd", 10_000, 3_000_000, 4, 6.7, 80, 0.08, wide=1), 0.62),
    Case(DEVICE, Run("local search, quick", 10_000, 3_000_000, 4, 16.7, 90, 0.69, wide=5, ranks=24), 1.27),
]


def fitted(place: Place, cases: Sequence[Case]) -> Place:
    """Return a place with its free rates fitted to the cases that are there for it, from what it has."""
    names = FREE[place.name]
    mine = [case for case in cases if case.fitted and case.place.name == place.name]

    def errors(logs: np.ndarray) -> list[float]:
        rates = dict(zip(names, np.exp(logs).tolist(), strict=True))
        apart = [np.log(case.run.seconds(replace(case.place, **rates)) / case.seconds) for case in mine]
        return [*apart, *(0.1 * (logs - begin))]  # what the cases do not say stays as it was

    begin = np.log([getattr(place, name) for name in names])
    return replace(place, **dict(zip(names, np.exp(least_squares(errors, begin).x).tolist(), strict=True)))


def compared() -> tuple[str, list[float]]:
    """Return the table of predicted and measured seconds, and the ratios of those that were predicted."""
    lines, ratios = [], []
    for case in CASES:
        run = case.run
        said = run.seconds(fitted(case.place, CASES))
        if not case.fitted:
            ratios.append(said / case.seconds)
        lines.append(
            [
                case.place.name,
                f"{run.n:,} x {run.p:,}, {run.nbytes / GIGA:.1f} GB",
                run.name,
                f"{run.passes:g}",
                f"{said:.2f}",
                f"{case.seconds:.2f}",
                f"{said / case.seconds:.2f}",
                "fitted" if case.fitted else "predicted",
            ]
        )
    return table(["X in", "X", "fit", "passes", "model, s", "measured, s", "ratio", ""], lines), ratios


LARGE = [
    Place("16 workers of 16 cores", 16 * 71.0 * GIGA, 16 * 20.0 * GIGA, columns=100.0 * GIGA, rank=25e-3, once=0.05),
    Place(
        "16 workers, each reads its part from a disk of 2 GB/s",
        16 * 2.0 * GIGA,
        16 * 20.0 * GIGA,
        columns=100.0 * GIGA,
        rank=25e-3,
        once=0.05,
    ),
]
NETWORK = 1.25 * GIGA  # bytes a second into the process that solves: 10 Gbit/s
VECTORS = {"cd": 28, "local search, quick": 170}  # products with all columns that travel


def foreseen() -> str:
    """Return the table of what larger X would take, with n = 10,000 and float32."""
    lines = []
    for terabytes in (1, 10):
        p = int(terabytes * 1e12 / (4 * 10_000))
        for place in LARGE:
            for run in (
                Run("cd", 10_000, p, 4, 9.5, 80, 0.1),
                Run("local search, quick", 10_000, p, 4, 20.5, 90, 0.85, ranks=32),
            ):
                answers = VECTORS[run.name] * 8.0 * p / NETWORK
                kept = 8.0 * p * 8 + 64 * 4.0 * p * (run.ranks > 0)
                total = run.seconds(place) + answers
                lines.append(
                    [
                        f"{terabytes} TB",
                        f"{p / 1e6:,.0f} million",
                        place.name,
                        run.name,
                        f"{run.passes * run.nbytes / place.bandwidth:,.0f}",
                        f"{answers:,.0f}",
                        f"{total:,.0f}",
                        f"{kept / GIGA:,.0f} GB",
                    ]
                )
    head = ["X", "columns", "where", "fit", "passes, s", "answers, s", "all, s", "memory of the client"]
    return table(head, lines)


def main() -> None:
    shown, ratios = compared()
    print(shown)
    print(f"\n{len(ratios)} predictions, ratios from {min(ratios):.2f} to {max(ratios):.2f}.\n")
    print(foreseen())


if __name__ == "__main__":
    main()
