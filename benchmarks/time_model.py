"""The model of time of docs/design/time.md: predicted against measured, and what larger X would take.

    python -m benchmarks.time_model

prints the tables of that page. The constants are rates of the machines that the tables in benchmarks/results were made on; the
cases are lines of those tables. Looks, rankings and the work on few columns were counted on the device at p = 1,000,000; the
other cases take those of the fit of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from ellzero.measurement.markdown import table

GIGA = 1e9
BYTES_PER_COLUMN = 320.0  # that a look at all columns moves on a host: products with the directions, radii, gains


@dataclass(frozen=True)
class Place:
    """The rates of where X is, and of the host that solves."""

    name: str
    bandwidth: float  # bytes of X a second, once it is at hand
    entries: float  # entries of X a second: what the processors manage, half as many if these are int8
    wide: float = 1.0  # a pass with many vectors takes so many times as long
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
DEVICE = Place("one H200", 3.2e12, 1e12, wide=3.8, look=1.5e-3, columns=1e12, rank=4e-3, once=0.14)

MEASURED: list[tuple[Place, Run, float]] = [
    (MEMORY, Run("cd", 1_000, 500_000, 4, 7, 90, 0.1), 1.59),
    (MEMORY, Run("local search", 1_000, 500_000, 4, 20, 100, 0.4, ranks=10), 5.31),
    (disk(1.34), Run("cd", 1_000, 500_000, 4, 7, 90, 0.1), 5.36),
    (disk(1.34), Run("local search", 1_000, 500_000, 4, 20, 100, 0.4, ranks=10), 13.50),
    (disk(1.46), Run("cd, given grid", 10_000, 500_000, 4, 3, 60, 0.2), 36.8),
    (disk(1.46), Run("cd", 10_000, 500_000, 4, 12, 80, 0.2), 73.4),
    (disk(1.46), Run("local search", 10_000, 500_000, 4, 22, 90, 1.0, ranks=30), 121.1),
    (disk(0.90), Run("cd, given grid", 10_000, 2_000_000, 1, 4, 60, 0.2), 58.1),
    (disk(0.90), Run("cd", 10_000, 2_000_000, 1, 13, 80, 0.2), 170.1),
    (disk(1.34), Run("cd, given grid", 1_000, 5_000_000, 4, 3, 40, 0.1), 43.3),
    (disk(1.34), Run("cd", 1_000, 5_000_000, 4, 25, 90, 0.1), 145.1),
    (disk(1.46), Run("solve, k = 5", 10_000, 500_000, 4, 15, 20, 1.0), 62.6),
    (DASK, Run("cd, blocks of 5,000", 1_000, 200_000, 8, 3, 30, 0.1, tasks=40, fetched=4416), 1.60),
    (DASK, Run("cd, blocks of 25,000", 1_000, 200_000, 8, 3, 30, 0.1, tasks=8, fetched=4416), 0.96),
    (DASK, Run("cd, blocks of 100,000", 1_000, 200_000, 8, 3, 30, 0.1, tasks=2, fetched=4416), 1.01),
    (CORES, Run("cd", 1_000, 1_000_000, 4, 10.8, 94, 0.05), 0.95),
    (CORES, Run("local search, quick", 1_000, 1_000_000, 4, 22.8, 101, 0.25, ranks=32), 2.66),
    (CORES, Run("cd", 10_000, 1_000_000, 4, 9.5, 80, 0.1), 5.84),
    (CORES, Run("local search, quick", 10_000, 1_000_000, 4, 20.5, 90, 0.85, ranks=32), 16.70),
    (DEVICE, Run("cd", 1_000, 1_000_000, 4, 10.8, 94, 0.05, wide=1), 0.46),
    (DEVICE, Run("local search, quick", 1_000, 1_000_000, 4, 23.8, 101, 0.25, wide=11, ranks=32), 0.97),
    (DEVICE, Run("cd", 10_000, 1_000_000, 4, 9.5, 80, 0.1, wide=1), 0.58),
    (DEVICE, Run("local search, quick", 10_000, 1_000_000, 4, 21.5, 90, 0.85, wide=11, ranks=32), 1.91),
    (DEVICE, Run("cd", 10_000, 3_000_000, 4, 6.7, 80, 0.1, wide=1), 1.25),
    (DEVICE, Run("local search, quick", 10_000, 3_000_000, 4, 16.7, 90, 0.85, wide=9, ranks=24), 2.87),
]


def compared() -> str:
    """Return the table of predicted and measured seconds."""
    lines = []
    for place, run, seconds in MEASURED:
        said = run.seconds(place)
        size = f"{run.nbytes / GIGA:.1f} GB"
        lines.append(
            [
                place.name,
                f"{run.n:,} x {run.p:,}, {size}",
                run.name,
                f"{run.passes:g}",
                f"{said:.2f}",
                f"{seconds:.2f}",
                f"{said / seconds:.2f}",
            ]
        )
    return table(["X in", "X", "fit", "passes", "predicted, s", "measured, s", "ratio"], lines)


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
    print(compared())
    ratios = [run.seconds(place) / seconds for place, run, seconds in MEASURED]
    print(f"\n{len(ratios)} cases, ratios from {min(ratios):.2f} to {max(ratios):.2f}.\n")
    print(foreseen())


if __name__ == "__main__":
    main()
