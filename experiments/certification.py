"""Table 3: seconds to certify global optimality."""

from __future__ import annotations

import importlib.util
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.validation import as_threads
from ellzero.datasets import make_classification
from ellzero.exact.solve import solve
from ellzero.exact.verifier import verify
from ellzero.paths.sizes import fit_sizes
from experiments.experiment import Experiment, Record, Scale, Task
from experiments.measurement.markdown import folded, processor, range_text, table, three_digits
from experiments.measurement.statistics import grouped, mean_with_error
from experiments.measurement.timing import best_time, call_in_process
from experiments.pictures import curve, figure, save
from experiments.published import TABLE3 as PRINTED

__all__ = ["TABLE3", "Certification"]

ROWS, TRUE, SNR = 1000, 5, 10.0
REPETITIONS = 5
LAMBDA_2 = 10.0
READINGS = {"sum": LAMBDA_2 / ROWS, "mean": LAMBDA_2}
"""The values of our lambda_2 for the two readings of the paper's lambda_2 = 10: its loss is a sum over rows, or a mean."""
GAP = 1e-4
FEATURES = (10_000, 20_000, 30_000, 40_000, 50_000)
QUICK_FEATURES = {"sum": (1_000, 2_000), "mean": (1_000,)}
LIMIT, QUICK_LIMIT = 120.0, 5.0  # seconds of a search
LARGER = 5  # how many sizes above the true one are considered in the choice of lambda_0
PRINTED_GAP = {50_000: 5e-4}  # the gap at which the paper's IGA was stopped


@dataclass(frozen=True)
class ProofMethod:
    """One method that proves optimality."""

    colour: str
    options: dict[str, str | None]  # arguments of ez.solve
    package: str | None = None
    readings: tuple[str, ...] = tuple(READINGS)
    features: tuple[int, ...] = FEATURES
    quick: bool = True  # whether it takes part in quick runs

    def takes(self, p: int, reading: str, quick: bool) -> bool:
        """Return whether it is tried on a problem."""
        features = QUICK_FEATURES[reading] if quick else self.features
        return reading in self.readings and p in features and (self.quick or not quick)

    def missing(self) -> str | None:
        """Return a sentence on what must be installed, None if nothing must."""
        absent = self.package is not None and importlib.util.find_spec(self.package) is None
        return f"not run, since {self.package} is not installed." if absent else None


WITH_M: dict[str, str | None] = {"bound": "heuristic"}
HIGHS: dict[str, str | None] = {"backend": "highs", **WITH_M}
PROOF_METHODS = {
    "IGA": ProofMethod("#1f5fa8", {"method": "iga", **WITH_M}),
    "branch and bound": ProofMethod("#c0392b", {"method": "bnb", **WITH_M}),
    "IGA, no M": ProofMethod("#5dade2", {"method": "iga", "bound": None}),
    "branch and bound, no M": ProofMethod("#e67e22", {"method": "bnb", "bound": None}),
    "IGA on HiGHS": ProofMethod("#7d3c98", {"method": "iga", **HIGHS}, "highspy", ("sum",), quick=False),
    "HiGHS alone": ProofMethod("#7f8c8d", {"method": "mip", **HIGHS}, "highspy", ("sum",), FEATURES[:1], quick=False),
}
"""The rows of the table. A MIP solver alone does not finish the smallest problem, so it is not tried on larger ones."""

SETTING = """Hinge loss, n = {rows:,}, five of p independent features matter, SNR = 10, q = 2, no intercept (as in the paper's
formulation), `gap={gap:g}`. "M": coefficients are assumed to be at most 1.2 times the largest of the heuristic's model, as in
the paper (local search; for branch and bound coordinate descent), so the proof depends on that; "no M" assumes nothing.
lambda_0 lies in the middle of the values at which five features are best among the models that local search finds. Seconds
are of the whole call of `ez.solve` with all {threads} processors, the best of three where one takes less than {seconds:g} s;
a search ends after {limit:g} s. {machine}. The paper: 12-core Xeon E5, Gurobi 8.1. It does not say whether its loss is a sum
or a mean over rows, so there are two tables. With a mean, lambda_2 = 10 is so strong that the features decouple and the root
of the tree closes the gap; the other one counts."""
TITLES = {"sum": "A sum over rows (our lambda_2 = 10 / n)", "mean": "A mean over rows (our lambda_2 = 10)"}
SECONDS_FOR_RUNS = 5.0  # no further run begins after that many seconds


@dataclass(frozen=True)
class Certification:
    """The experiment of Table 3: methods that prove optimality, on more and more features."""

    name: str = "table3"
    title: str = "Table 3: run times to certify global optimality"
    serial: bool = True

    def tasks(self, scale: Scale) -> list[Task]:
        """Return all tasks, small problems first."""
        return [
            {"p": p, "repetition": repetition, "reading": reading, "method": name, "quick": scale.quick}
            for repetition in range(scale.repeats(REPETITIONS, 1))
            for p in (QUICK_FEATURES["sum"] if scale.quick else FEATURES)
            for reading in READINGS
            for name, method in PROOF_METHODS.items()
            if method.takes(p, reading, scale.quick) and method.missing() is None
        ]

    def run(self, task: Task) -> Record:
        """Make one proof and verify it, in a separate process."""
        limit = QUICK_LIMIT if task["quick"] else LIMIT
        # Twice the limit, since a MIP solver may overrun it; making the data, choosing lambda_0 and verifying take time, too.
        record = call_in_process(f"{__name__}:certify", task | {"limit": limit}, 2.0 * limit + 120.0)
        return {"limit": limit} | (record or {"status": "ended from outside", "time": None})

    def report(self, records: list[Record], folder: Path, scale: Scale) -> str:
        """Return the seconds and those of the paper, the details of each proof, and the verdicts."""
        results = Results(grouped(records, lambda record: (record["reading"], record["method"], record["p"])))
        picture = f"{scale.label(self.name)}.png"
        results.draw(folder / picture)
        limit = QUICK_LIMIT if scale.quick else LIMIT
        said = SETTING.format(
            rows=ROWS,
            gap=GAP,
            threads=max((record["threads"] for record in records if "threads" in record), default=1),
            seconds=SECONDS_FOR_RUNS,
            limit=limit,
            machine=processor(),
        )
        quick = "A quick run: fewer features than the paper's, once each, without MIP solvers." * scale.quick
        missing = [
            f"{name}: {method.missing()}"
            for name, method in PROOF_METHODS.items()
            if method.missing() is not None and not scale.quick
        ]
        parts = [said, quick, *missing, f"![Seconds against p]({picture})"]
        for reading in results.readings:
            parts.append(f"**{TITLES[reading]}**, seconds{results.repetitions(reading)}:\n\n{results.seconds_table(reading)}")
            parts.append(folded("Behind these: the problems, the solutions and their proofs", results.details_table(reading)))
        parts.append("\n".join(f"- {verdict}" for verdict in results.verdicts()))
        return "\n\n".join(part for part in parts if part)


# One proof.


def draw_problem(task: Task) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Draw X, y and the features that matter, which are the same for all methods."""
    random_state = np.random.default_rng([3, task["p"], task["repetition"]])
    X, y, coef = make_classification(ROWS, task["p"], TRUE, snr=SNR, random_state=random_state)
    return X, y, coef.nonzero()[0]


def lambda_0_for_true_size(X: NDArray[np.float64], y: NDArray[np.int64], lambda_2: float) -> float:
    """Return the middle of the lambda_0 at which the true size is best among the best models found of all sizes."""
    models = fit_sizes(X, y, range(TRUE + LARGER + 1), loss="hinge", lambda_2=lambda_2, fit_intercept=False)
    values = [models[k].objective for k in range(TRUE + LARGER + 1)]
    highest = min((values[k] - values[TRUE]) / (TRUE - k) for k in range(TRUE))
    lowest = max((values[TRUE] - values[k]) / (k - TRUE) for k in range(TRUE + 1, len(values)))
    return float(f"{(lowest + highest) / 2.0:.3g}")


def certify(task: Task) -> Record:
    """Solve a problem, then verify the certificate."""
    X, y, truth = draw_problem(task)
    lambda_2 = READINGS[task["reading"]]
    options: dict[str, Any] = {
        "loss": "hinge",
        "lambda_0": lambda_0_for_true_size(X, y, lambda_2),
        "lambda_2": lambda_2,
        "fit_intercept": False,
        "gap": GAP,
        "time_limit": task["limit"],
        "n_jobs": -1,
        **PROOF_METHODS[task["method"]].options,
    }
    solution, seconds, runs = best_time(lambda: solve(X, y, **options), 1 if task["quick"] else 3, SECONDS_FOR_RUNS)
    start = time.perf_counter()
    report = verify(solution.certificate, X, y)
    return {
        "time": seconds,
        "runs": runs,
        "threads": as_threads(-1),
        "status": solution.status,
        "lambda_0": options["lambda_0"],
        "M": solution.bound,
        "objective": solution.objective,
        "gap": solution.gap,
        "nodes": solution.nodes,
        "features": len(solution.support),
        "recovered": bool(np.array_equal(solution.support, truth)),
        "prover": solution.prover,
        "valid": bool(report.valid),
        "verified_gap": report.gap,
        "verify_time": time.perf_counter() - start,
        "message": solution.message,
    }


# The report on the proofs.


@dataclass(frozen=True)
class Results:
    """Records by reading, method and number of features."""

    cells: dict[tuple[str, str, int], list[Record]]

    @property
    def readings(self) -> list[str]:
        """Return the readings of lambda_2 with results."""
        return [reading for reading in READINGS if any(key[0] == reading for key in self.cells)]

    def features(self, reading: str) -> list[int]:
        """Return the numbers of features, ascending."""
        return sorted({p for kept, _, p in self.cells if kept == reading})

    def methods(self, reading: str) -> list[str]:
        """Return the methods with results."""
        return [name for name in PROOF_METHODS if any(key[:2] == (reading, name) for key in self.cells)]

    def repetitions(self, reading: str) -> str:
        """Return how many data sets a number is the mean of; empty if it is one."""
        counts = sorted({len(cell) for key, cell in self.cells.items() if key[0] == reading})
        return "" if counts == [1] else f" (mean of {' or '.join(map(str, counts))} data sets ± standard error)"

    def times(self, reading: str, name: str, p: int) -> list[float]:
        """Return the seconds on all data sets, none if one of them was not finished."""
        cell = self.cells.get((reading, name, p), [])
        return [record["time"] for record in cell] if all(record["status"] == "optimal" for record in cell) else []

    def entry(self, reading: str, name: str, p: int) -> str:
        """Return the seconds, or the gap that was left."""
        cell, times = self.cells.get((reading, name, p), []), self.times(reading, name, p)
        if not cell:
            return "-"
        if times:
            mean, error = mean_with_error(times)
            return three_digits(mean) + (f" ± {three_digits(error)}" if len(times) > 1 else "")
        open_ones = [record for record in cell if record["status"] != "optimal"]
        gaps = [record["gap"] for record in open_ones if "gap" in record]
        left = f" (gap {percent(max(gaps))})" if gaps else ""
        words = {record["status"] for record in open_ones}
        return (f"over {cell[0]['limit']:g}" if words <= {"time_limit"} else " and ".join(sorted(words))) + left

    def seconds_table(self, reading: str) -> str:
        """Return the paper's table, with our rows above its own."""
        features = self.features(reading)
        rows = [[label(name), *(self.entry(reading, name, p) for p in features)] for name in self.methods(reading)]
        for title, printed in PRINTED.items():
            if any(p in printed for p in features):
                rows.append([f"the paper: {title}", *(printed_entry(title, p) for p in features)])
        return table(["", *(f"p = {p:,}" for p in features)], rows)

    def details_table(self, reading: str) -> str:
        """Return a table of the problems, the solutions and the verification of their certificates."""
        header = ["p", "", "lambda_0", "M", "nodes", "features", "the true ones", "gap", "certificate", "seconds to verify"]
        rows = [
            [f"{p:,}", label(name), *details(self.cells[reading, name, p])]
            for p in self.features(reading)
            for name in self.methods(reading)
            if (reading, name, p) in self.cells
        ]
        return table(header, rows)

    def draw(self, path: Path) -> None:
        """Draw the seconds against p, one panel for each reading."""
        readings = self.readings
        drawn, axes = figure(1, len(readings), (4.0 * len(readings) + 2.0, 4.2))
        for ax, reading in zip(axes[0], readings, strict=True):
            for name in self.methods(reading):
                points = [(p, self.times(reading, name, p)) for p in self.features(reading)]
                points = [(p, times) for p, times in points if times]
                if points:
                    means, errors = zip(*(mean_with_error(times) for _, times in points), strict=True)
                    curve(ax, [p for p, _ in points], means, errors, label(name), PROOF_METHODS[name].colour)
            for title, printed in PRINTED.items():
                known = [(p, seconds) for p, seconds in printed.items() if p in self.features(reading) and seconds is not None]
                if known:
                    style = "k:" if title == "IGA" else "k--"
                    ax.plot(*zip(*known, strict=True), style, marker="x", label=f"the paper: {title}")
            ax.set(yscale="log", xlabel="p", ylabel="seconds", title=TITLES[reading].split(" (")[0])
        handles, labels = axes[0, 0].get_legend_handles_labels()  # the first panel has all methods
        if handles:
            axes[0, -1].legend(handles, labels, frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        save(drawn, path)

    def verdicts(self) -> list[str]:
        """Return the conclusions, with counts."""
        out = [self.against_paper(reading, name) for reading in self.readings for name in self.methods(reading)]
        every = [record for cell in self.cells.values() for record in cell]
        proved = [record for record in every if record["status"] == "optimal"]
        own = [record for record in every if record.get("prover", "") is None]
        found, valid = sum(record["recovered"] for record in proved), sum(record["valid"] for record in own)
        out.append(
            f"{len(proved)} of {len(every)} searches end with a proof; in {found} of these the best model has exactly the "
            "five true features (the paper: in all cases)."
        )
        out.append(f"`ez.verify` finds {valid} of the built-in solver's {len(own)} certificates valid.")
        out.append(self.agreement())
        return [sentence for sentence in out if sentence]

    def against_paper(self, reading: str, name: str) -> str:
        """Return how many times as fast as the paper's IGA a method is; empty where the paper has no numbers."""
        ratios, unfinished = list[float](), list[int]()
        for p in self.features(reading):
            printed, times = PRINTED["IGA"].get(p), self.times(reading, name, p)
            if printed is None or (reading, name, p) not in self.cells:
                continue
            if times:
                ratios.append(printed / float(np.mean(times)))
            else:
                unfinished.append(p)
        if not ratios and not unfinished:
            return ""
        said = f"{label(name)}, {reading} over rows: "
        said += f"{range_text(ratios)} times as fast as the paper's IGA on its machine" if ratios else "no proof"
        return said + (f"; not finished at p = {', '.join(f'{p:,}' for p in unfinished)}" if unfinished else "") + "."

    def agreement(self) -> str:
        """Return whether proofs of the same problem agree."""
        problems = grouped(
            (record for cell in self.cells.values() for record in cell if record["status"] == "optimal"),
            lambda record: (record["reading"], record["p"], record["repetition"]),
        )
        spreads = [
            (max(values) - min(values)) / abs(min(values))
            for group in problems.values()
            if len(values := [record["objective"] for record in group]) > 1
        ]
        if not spreads:
            return ""
        verdict = "agree" if max(spreads) <= GAP else "do NOT agree"
        return f"Proofs of the same problem {verdict}: their objectives differ by at most {percent(max(spreads))}."


def details(cell: list[Record]) -> list[str]:
    """Return the entries of one row of details: of the first data set, or counts over all."""
    first, count = cell[0], len(cell)
    if "gap" not in first:
        return [*["-"] * 7, first["status"]]
    valid = sum(record.get("valid", False) for record in cell)
    certificate = "valid" if count == 1 and valid else f"{valid} of {count} valid"
    if first["prover"] is not None:
        certificate = f"rests on {first['prover']}"
    found = sum(record.get("recovered", False) for record in cell)
    return [
        f"{first['lambda_0']:g}",
        "-" if first["M"] is None else f"{first['M']:.3g}",
        f"{first['nodes']:,}",
        str(first["features"]),
        ("yes" if found else "no") if count == 1 else f"{found} of {count}",
        percent(first["gap"]),
        certificate,
        three_digits(first["verify_time"]),
    ]


def label(name: str) -> str:
    """Return a row's name, which says where M is assumed."""
    return name if PROOF_METHODS[name].options["bound"] is None else f"{name}, M"


def printed_entry(title: str, p: int) -> str:
    """Return the paper's number."""
    seconds = PRINTED[title].get(p)
    if seconds is None:
        return "over a day" if p in PRINTED[title] else "-"
    return f"{seconds:,.0f}" + (f" (gap {percent(PRINTED_GAP[p])})" if title == "IGA" and p in PRINTED_GAP else "")


def percent(share: float) -> str:
    """Return a share in percent with two digits; rounding errors count as zero."""
    return f"{100.0 * share:.2g} %" if share > 1e-9 else "0 %"


TABLE3: Experiment = Certification()
