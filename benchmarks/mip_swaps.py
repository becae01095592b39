"""Swaps of two and three features at once: their gain over swaps of one, the cost of the proof, and its growth with p."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from benchmarks.exact_runs import percent, seconds_shown
from benchmarks.sections import Section
from experiments.measurement.markdown import table

__all__ = ["swaps"]

LIMIT = 20.0  # seconds, of one call of improve
GLOBAL_LIMIT = 10.0
SCALE_LIMIT = 20.0
MATTERS = 1e-4  # a relative improvement that counts, and the gap of all proofs
SIZES = (2, 3)
PROBLEMS = 50
FEATURES_WANTED = 10
RHO = 0.9
TEXT = """{count} problems: n = {n}, p = {p}, all features correlated by 0.9, ten of them matter (seeds 0 to {last}). The
start is a minimum with respect to swaps of one (`fit_path(..., algorithm="local_search", swaps="exhaustive")`); from it
`ez.improve(swap_size=m)` swaps up to m features at once until it proves that none of these swaps gains more than {matters:g},
`n_jobs=2`, at most {limit:g} s. "Improved": the support changes and the objective falls by more than {matters:g} of itself.
"Mean gain" is of those. "Global": how many end within {matters:g} of the optimum, of those where `ez.solve` proves it in
{most:g} s."""
HEADER = [
    "loss",
    "lambda_0",
    "lambda_2",
    "m",
    "improved",
    "mean gain",
    "largest gain",
    "median s",
    "largest s",
    "proved",
    "global",
]
SCALE = """How the proof scales: n = {n}, m = 2, features that are independent or, as above, correlated, lambda_0 such that
local search ends with about {wanted} features; no swap of one improves the start. At most {limit:g} s."""
SCALE_HEADER = [
    "p",
    "correlation",
    "loss",
    "lambda_0",
    "lambda_2",
    "features",
    "gain",
    "seconds",
    "nodes",
    "status",
    "gap over swaps",
]


@dataclass(frozen=True)
class Case:
    """A loss and its penalties."""

    loss: str
    lambda_0: float
    lambda_2: float

    def options(self) -> dict[str, Any]:
        return {"loss": self.loss, "lambda_2": self.lambda_2}


CASES = (
    *(Case("logistic", lambda_0, 0.001) for lambda_0 in (0.005, 0.002, 0.001)),
    *(Case(loss, 0.005, 0.01) for loss in ("squared_hinge", "hinge", "squared_error")),
)
# lambda_0 is not set here: it follows from the wanted number of features.
SCALE_CASES = (Case("logistic", np.nan, 0.01), Case("hinge", np.nan, 0.1), Case("logistic", np.nan, 0.001))


@dataclass(frozen=True)
class Trial:
    """The result of one problem with swaps of at most m features."""

    seed: int
    start: float
    objective: float
    moved: bool
    seconds: float
    status: str
    optimum: float | None  # the proved optimum over all models; None if it was not proved

    @property
    def gain(self) -> float:
        return (self.start - self.objective) / abs(self.start)

    @property
    def improved(self) -> bool:
        return self.moved and self.gain > MATTERS

    @property
    def best(self) -> bool:
        return self.optimum is not None and self.objective <= self.optimum + MATTERS * abs(self.optimum)


def correlated(n: int, p: int, seed: int, rho: float = RHO) -> tuple[NDArray[Any], NDArray[np.int64]]:
    X, y, _ = ez.datasets.make_classification(n, p, 10, s=1.0, correlation="constant", rho=rho, random_state=seed)
    return X, y


def referee(X: NDArray[Any], y: NDArray[np.int64], model: Any, case: Case) -> float:
    return float(ez.objective(X, y, model.coef, model.intercept, lambda_0=case.lambda_0, **case.options()))


def distance(one: Any, other: Any) -> int:
    """Return the size of the swap that leads from one support to another."""
    a, b = set(one.support.tolist()), set(other.support.tolist())
    return max(len(a - b), len(b - a))


def one_problem(section: Section, case: Case, seed: int, n: int, p: int, limits: tuple[float, float]) -> dict[int, Trial]:
    X, y = correlated(n, p, seed)
    asked: dict[str, Any] = {"lambda_0": case.lambda_0, "n_jobs": 2, **case.options()}
    start = ez.fit_path(X, y, lambda_0=[case.lambda_0], algorithm="local_search", swaps="exhaustive", **case.options())[0]
    before = referee(X, y, start, case)
    whole = ez.solve(X, y, time_limit=limits[1], **asked)
    optimum = referee(X, y, whole, case) if whole.status == "optimal" else None
    trials = {}
    for m in SIZES:
        begin = time.perf_counter()
        found = ez.improve(X, y, start, swap_size=m, time_limit=limits[0], **asked)
        seconds = time.perf_counter() - begin
        after = referee(X, y, found, case)
        trials[m] = Trial(seed, before, after, distance(start, found) > 0, seconds, found.status, optimum)
        section.checks += wrong(f"{case.loss}, lambda_0 = {case.lambda_0:g}, seed {seed}, m = {m}", trials[m], found, whole)
        section.raw.append({"case": asdict(case), "m": m, **asdict(trials[m])})
    return trials


def wrong(name: str, trial: Trial, found: Any, whole: Any) -> list[str]:
    """Return the claims of a result that a correct search over swaps would not make."""
    small = 1e-9 * max(abs(trial.objective), 1e-3)
    reachable = distance(found, whole) <= found.swap_size
    checks = {
        f"objective {found.objective!r}, the referee's is {trial.objective!r}": abs(found.objective - trial.objective) > small,
        f"worse than the start, {trial.start!r}: {trial.objective!r}": trial.objective > trial.start + small,
        f"bound {found.lower_bound!r} above {trial.objective!r}": found.lower_bound > trial.objective + small,
        f"bound {found.lower_bound!r}, but a swap leads to {whole.objective!r}": reachable
        and trial.status == "optimal"
        and found.lower_bound > whole.objective + small,
        f"below the bound {whole.lower_bound!r} of all models: {trial.objective!r}": trial.objective
        < whole.lower_bound - small,
        f"status {found.status}, gap {found.gap:.2e}": (found.status == "optimal") != (found.gap <= MATTERS * (1.0 + 1e-6)),
    }
    return [f"{name}: {what}" for what, is_so in checks.items() if is_so]


def share(count: int, of: int) -> str:
    return f"{count} / {of}"


def case_row(case: Case, m: int, trials: Sequence[Trial]) -> list[str]:
    gains = [trial.gain for trial in trials if trial.improved]
    seconds = [trial.seconds for trial in trials]
    closed = [trial for trial in trials if trial.optimum is not None]
    return [
        case.loss,
        f"{case.lambda_0:g}",
        f"{case.lambda_2:g}",
        str(m),
        share(len(gains), len(trials)),
        percent(float(np.mean(gains))) if gains else "-",
        percent(max(gains)) if gains else "-",
        seconds_shown(float(np.median(seconds))),
        seconds_shown(max(seconds)),
        share(sum(trial.status == "optimal" for trial in trials), len(trials)),
        share(sum(trial.best for trial in closed), len(closed)),
    ]


def start_row(case: Case, trials: Sequence[Trial]) -> list[str]:
    """Return the row of the starts, which are minima with respect to swaps of one."""
    closed = [trial for trial in trials if trial.optimum is not None]
    best = sum(trial.start <= (trial.optimum or 0.0) * (1.0 + MATTERS) for trial in closed)
    return [case.loss, f"{case.lambda_0:g}", f"{case.lambda_2:g}", "1 (start)", *["-"] * 6, share(best, len(closed))]


def case_rows(section: Section, case: Case, count: int, limits: tuple[float, float]) -> list[list[str]]:
    found = [one_problem(section, case, seed, 60, 100, limits) for seed in range(count)]
    rows = [start_row(case, [trials[SIZES[0]] for trials in found])]
    rows += [case_row(case, m, [trials[m] for trials in found]) for m in SIZES]
    print("\n".join(" | ".join(row) for row in rows), flush=True)
    return rows


# Larger problems.


def start_of_size(X: NDArray[Any], y: NDArray[np.int64], case: Case, wanted: int) -> Any:
    """Return a minimum with respect to swaps of one, with about the wanted number of features."""
    chosen: dict[str, Any] = {"max_support": wanted + 2, "algorithm": "local_search", "n_jobs": 2}
    path = ez.fit_path(X, y, **chosen, **case.options())
    at = int(np.argmin(np.abs(path.support_size - wanted)))
    grid = [float(path.lambda_0[at])]
    return ez.fit_path(X, y, lambda_0=grid, algorithm="local_search", swaps="exhaustive", n_jobs=2, **case.options())[0]


def scale_row(section: Section, n: int, p: int, rho: float, case: Case, limit: float) -> list[str]:
    X, y = correlated(n, p, 0, rho)
    start = start_of_size(X, y, case, FEATURES_WANTED)
    case = Case(case.loss, float(start.lambda_0), case.lambda_2)
    begin = time.perf_counter()
    found = ez.improve(X, y, start, swap_size=2, time_limit=limit, n_jobs=2, **case.options())
    seconds = time.perf_counter() - begin
    before, after = referee(X, y, start, case), referee(X, y, found, case)
    trial = Trial(0, before, after, distance(start, found) > 0, seconds, found.status, None)
    section.raw.append({"case": asdict(case), "n": n, "p": p, "rho": rho, "m": 2, **asdict(trial)})
    sizes = f"{len(start.support)} -> {len(found.support)}" if trial.moved else str(len(start.support))
    gain = percent(trial.gain) if trial.improved else "-"
    row = [
        f"{p:,}",
        f"{rho:g}",
        case.loss,
        f"{case.lambda_0:.3g}",
        f"{case.lambda_2:g}",
        sizes,
        gain,
        seconds_shown(seconds),
        f"{found.nodes:,}",
    ]
    row += [found.status, percent(found.gap)]
    print(" | ".join(row), flush=True)
    return row


def swaps(quick: bool, asked: float | None) -> Section:
    count = 4 if quick else PROBLEMS
    limit = asked or (2.0 if quick else LIMIT)
    most, long = min(limit, GLOBAL_LIMIT), asked or (5.0 if quick else SCALE_LIMIT)
    n, sizes = (100, (200,)) if quick else (500, (1_000, 10_000))
    told = {"n": 60, "p": 100, "limit": limit, "most": most, "count": count, "last": count - 1, "matters": MATTERS}
    section = Section("Swaps of two and three")
    rows = [row for case in CASES for row in case_rows(section, case, count, (limit, most))]
    larger = [scale_row(section, n, p, rho, case, long) for p in sizes for rho in (0.0, RHO) for case in SCALE_CASES]
    scale = SCALE.format(n=n, wanted=FEATURES_WANTED, limit=long)
    section.text = f"{TEXT.format(**told)}\n\n{table(HEADER, rows)}\n\n{scale}\n\n{table(SCALE_HEADER, larger)}"
    return section
