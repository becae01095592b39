"""The three exact methods: the paper's certification table, direct MIP against IGA, IGA's iterations, swaps of two and three.

python -m benchmarks.mip [--quick] [--only SECTION] [--limit SECONDS] [--out FILE]

MIP solvers are optional: those that are not installed take no part. Sections that a call leaves out are kept from the last one
(build/bench-mip.json).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from benchmarks.cases import N
from benchmarks.exact import LAMBDA_2, LAMBDAS_0, PAPER_SECONDS
from benchmarks.exact_runs import (
    GAP,
    REPEATS,
    SECONDS_FOR_REPEATS,
    Job,
    Outcome,
    contradictions,
    percent,
    seconds_shown,
    shown,
)
from benchmarks.mip_iterations import ITERATIONS_LIMIT, iterations
from benchmarks.mip_swaps import swaps
from benchmarks.sections import Report, Section, arguments_of
from experiments.measurement.markdown import table

LIMIT = 300.0  # seconds, of built-in methods and IGA
DIRECT_LIMIT = 100.0  # of a direct solve: a ladder of problems ends with one that takes all of it
SOLVERS = {"highs": ("HiGHS", "highspy"), "scip": ("SCIP", "pyscipopt"), "gurobi": ("Gurobi", "gurobipy")}
BASE: dict[str, Any] = {"loss": "hinge", "lambda_2": LAMBDA_2, "gap": GAP, "n_jobs": 2}


def installed() -> list[str]:
    return [name for name, (_, package) in SOLVERS.items() if importlib.util.find_spec(package) is not None]


def absent() -> str:
    missing = [title for name, (title, _) in SOLVERS.items() if name not in installed()]
    return f"\n\nNot installed: {', '.join(missing)}." if missing else ""


def in_limit(value: float | None, usual: float, quick: bool) -> float:
    """Return the time limit that was requested, or the usual one."""
    return value if value is not None else min(usual, 10.0) if quick else usual


def set_shown(result: Outcome) -> str:
    """Return the number of IGA's iterations and the size of its last set, as text."""
    if not result.steps:
        return ""
    count = len(result.steps)
    return f"{count} iteration{'s' if count > 1 else ''}, set {result.steps[-1]['integral']}"


def reason(result: Outcome | str) -> str:
    """Return why there is no proof, in a few words."""
    if isinstance(result, str):
        return result
    said = result.message.split(";")[0]
    return f"{result.status}, gap {percent(result.gap())}" + (f": {said}" if said else "")


def finished(result: Outcome | str) -> TypeGuard[Outcome]:
    return isinstance(result, Outcome) and result.status == "optimal"


# The paper's table.


CERTIFICATION = """The paper's Table "Runtimes to certify global optimality" on this machine: hinge loss, n = {n:,}, five of p
independent features, signal-to-noise ratio 10, columns of unit variance, lambda_2 = 10 / n, `gap={gap:g}`, `n_jobs=2` (SCIP
uses one thread), at most {limit:g} s (direct MIP: {direct:g} s). Entries are seconds (for IGA: iterations, size of the last
set); "-": not finished in the limit, with the gap that is left. The coefficients are assumed to respect the paper's M, 1.2
times the largest of the heuristic model (`bound="heuristic"`), but for the rows "no M" of the first table, which assume
nothing. Direct MIP is tried at p = {probe:,} first and goes on only where it finishes. The paper's own times (12 cores,
Gurobi 8.1, lambda_0 such that five features are optimal) are from another machine. IGA on a MIP solver takes that solver's
word for its bound; the certificates of the built-in methods are verified up to p = {verified:,}."""
VERIFIED = 10_000
PROBE = 1_000
PAPER_DIRECT = dict.fromkeys(PAPER_SECONDS, "- (over a day)") | {10_000: "4446", 20_000: "21817"}


@dataclass(frozen=True)
class Method:
    """One row of the table."""

    name: str
    method: str
    backend: str = "builtin"
    bound: str | None = "heuristic"

    def job(self, p: int, lambda_0: float, limit: float, verified: int = VERIFIED, n: int = N) -> Job:
        chosen = {"method": self.method, "backend": self.backend, "bound": self.bound}
        options = BASE | chosen | {"lambda_0": lambda_0, "time_limit": limit}
        return Job({"p": p} if n == N else {"p": p, "n": n}, options, verify=self.backend == "builtin" and p <= verified)


def methods(lambda_0: float) -> list[Method]:
    """Return the rows of one table; those without M, which take minutes for large p, are in the first only."""
    free = [Method("branch and bound, no M", "bnb", bound=None), Method("IGA, no M", "iga", bound=None)]
    solvers = [Method(f"IGA, {SOLVERS[name][0]}", "iga", name) for name in installed()]
    return [Method("branch and bound", "bnb"), Method("IGA", "iga"), *solvers, *(free if lambda_0 == LAMBDAS_0[0] else [])]


def entry(result: Outcome | str) -> str:
    if not finished(result):
        return f"- ({reason(result)})"
    of_set = set_shown(result)
    return seconds_shown(result.seconds) + (f" ({of_set})" if of_set else "")


def same_problem(section: Section, name: str, results: Sequence[tuple[str, Outcome]]) -> None:
    """Check that bounds and objectives agree where the same M was assumed."""
    for assumed in {result.assumed for _, result in results}:
        section.checks += contradictions(name, [(who, result) for who, result in results if result.assumed == assumed])
    bounds = {result.assumed for _, result in results if result.assumed is not None}
    if len(bounds) > 1:
        section.checks.append(f"{name}: not the same M: {', '.join(map(shown, sorted(bounds)))}")


def direct_row(section: Section, backend: str, sizes: Sequence[int], limit: float) -> list[str]:
    """Return the row of direct MIP, on larger and larger problems until one does not finish, with the reason of its end."""
    method = Method("direct", "mip", backend)
    row, failed = [f"direct MIP, {SOLVERS[backend][0]}"], ""
    for p in dict.fromkeys((PROBE, *sizes)):
        cell = "-"
        if not failed:
            result = section.solve(method.job(p, LAMBDAS_0[0], limit))
            cell = entry(result)
            failed = "" if finished(result) else f"p = {p:,}: {reason(result)}"
        if p in sizes:
            row.append(cell)
    if failed and row[1] == "-":  # already before
        row[1] = f"- ({failed})"
    return row


def best_row(found: dict[int, list[tuple[str, Outcome]]]) -> list[str]:
    """Return the best solution of each problem."""
    best = {p: min((result for _, result in results), key=lambda r: r.objective) for p, results in found.items() if results}
    cells = [f"{best[p].size}: {best[p].objective:.6f}" if p in best else "-" for p in found]
    return ["features: objective", *cells]


def certification_rows(section: Section, lambda_0: float, sizes: Sequence[int], limit: float) -> list[list[str]]:
    found: dict[int, list[tuple[str, Outcome]]] = {p: [] for p in sizes}
    rows = []
    for method in methods(lambda_0):
        row = [method.name]
        for p in sizes:
            result = section.solve(method.job(p, lambda_0, limit))
            row.append(entry(result))
            if isinstance(result, Outcome):
                found[p].append((method.name, result))
        rows.append(row)
    for p, results in found.items():
        same_problem(section, f"p = {p:,}, lambda_0 = {lambda_0:g}", results)
    return [best_row(found), *rows]


def certification(quick: bool, asked: float | None) -> Section:
    section = Section("The paper's table")
    sizes = (1_000, 2_000) if quick else tuple(PAPER_SECONDS)
    limit, direct = in_limit(asked, LIMIT, quick), in_limit(asked, DIRECT_LIMIT, quick)
    section.text = CERTIFICATION.format(n=N, gap=GAP, limit=limit, direct=direct, probe=PROBE, verified=VERIFIED) + absent()
    for lambda_0 in LAMBDAS_0:
        rows = certification_rows(section, lambda_0, sizes, limit)
        if lambda_0 == LAMBDAS_0[0]:
            rows += [direct_row(section, backend, sizes, direct) for backend in installed()]
        rows.append(["the paper: IGA, Gurobi", *(PAPER_SECONDS.get(p, "-") for p in sizes)])
        rows.append(["the paper: direct MIP, Gurobi", *(PAPER_DIRECT.get(p, "-") for p in sizes)])
        header = [f"lambda_0 = {lambda_0 * N:g} / n", *(f"p = {p:,}" for p in sizes)]
        section.text += f"\n\n{table(header, rows)}"
    return section


# Direct MIP against IGA.


DIRECT = """The same problems with fewer features: the paper's formulation, given to a solver, against IGA on the
same solver: same data, lambda_0 = {lambda_0:g}, lambda_2 = {lambda_2:g}, `bound="heuristic"`, `gap={gap:g}`, and both begin
with local search, which counts. p grows until the direct solve does not finish in {limit:g} s. HiGHS, which takes no squares
in mixed integer programs, and Gurobi beyond the 200 variables that its free licence allows with squares get tangents in
rounds (outer approximation). That licence refuses models of more than 2,000 variables or rows; n = {small} lets it see more
features, and so it does for SCIP."""
DIRECT_HEADER = [
    "solver",
    "n",
    "p",
    "direct MIP, s",
    "nodes",
    "IGA, s",
    "iterations, set",
    "direct / IGA",
    "features",
    "objective",
]
LADDER = (10, 20, 50, 100, 200, 500, 1_000, 2_000)
SMALL_N = 200
RATIO_WANTED = 10.0


def ladders(quick: bool) -> list[tuple[str, int]]:
    """Return the pairs of solver and n."""
    rows = [(SMALL_N if quick else N, installed()), (SMALL_N, [name for name in installed() if name != "highs"])]
    return list(dict.fromkeys((backend, n) for n, backends in rows for backend in backends))


def ratio_shown(direct: Outcome | str, iga: Outcome | str) -> str:
    """Return the ratio of direct MIP to IGA; a lower bound of it where the direct solve ran into the limit."""
    stopped = isinstance(direct, Outcome) and direct.status == "time_limit"
    if not finished(iga) or not (isinstance(direct, Outcome) and (stopped or finished(direct))):
        return "-"
    return f"{'>' if stopped else ''}{direct.seconds / iga.seconds:.1f}"


def pair_row(start: list[str], direct: Outcome | str, iga: Outcome | str) -> list[str]:
    cells = [seconds_shown(direct.seconds), f"{direct.nodes:,}"] if finished(direct) else [f"- ({reason(direct)})", "-"]
    if not finished(iga):
        return [*start, *cells, f"- ({reason(iga)})", *["-"] * 4]
    solution = [str(iga.size), f"{iga.objective:.6f}"]
    return [*start, *cells, seconds_shown(iga.seconds), set_shown(iga), ratio_shown(direct, iga), *solution]


def climb(section: Section, backend: str, n: int, sizes: Sequence[int], limit: float) -> tuple[list[list[str]], list[str]]:
    """Return the rows of one solver, and that of the largest problem that it solved directly."""
    rows: list[list[str]] = []
    best, end = [SOLVERS[backend][0], f"{n:,}", *["-"] * 4], "the largest p tried"
    for p in sizes:
        jobs = [Method(method, method, backend).job(p, LAMBDAS_0[0], limit, n=n) for method in ("mip", "iga")]
        direct, iga = (section.solve(job) for job in jobs)
        both = [(name, found) for name, found in (("direct", direct), ("IGA", iga)) if isinstance(found, Outcome)]
        same_problem(section, f"{backend}, n = {n:,}, p = {p:,}", both)
        rows.append(pair_row([SOLVERS[backend][0], f"{n:,}", f"{p:,}"], direct, iga))
        if not finished(direct):
            end = f"p = {p:,}: {reason(direct)}"
            break
        if finished(iga):
            times = [seconds_shown(direct.seconds), seconds_shown(iga.seconds)]
            best = [*best[:2], f"{p:,}", *times, ratio_shown(direct, iga)]
    return rows, [*best, f"{RATIO_WANTED:g}", end]


def against_direct(quick: bool, asked: float | None) -> Section:
    limit = in_limit(asked, DIRECT_LIMIT, quick)
    sizes = LADDER[:3] if quick else LADDER
    options = {"lambda_0": LAMBDAS_0[0], "lambda_2": LAMBDA_2, "gap": GAP, "limit": limit, "small": SMALL_N}
    section = Section("Direct MIP against IGA", DIRECT.format(**options) + absent())
    rows, best = [], []
    for backend, n in ladders(quick):
        steps, largest = climb(section, backend, n, sizes, limit)
        rows += steps
        best.append(largest)
    header = ["solver", "n", "largest p solved directly", "direct MIP, s", "IGA, s", "direct / IGA", "target", "ended by"]
    section.text += f"\n\n{table(header, best)}\n\nAll of them:\n\n{table(DIRECT_HEADER, rows)}"
    return section


# The report.


INTRODUCTION = """# The exact methods: branch and bound, IGA, direct MIP, swaps

Made by `make bench-mip`; every section says when and where. Every solve of the first two sections is in a separate process;
seconds are the wall time of the whole call, heuristics with it, the best of {repeats} where the first takes less than
{short:g} s. Objectives are the referee's (`ez.objective`). A gap is (objective - lower bound) / objective. Compare within one
section only. Under each section stands what a correct solver would not report: an objective other than the referee's, a bound
above what was reached on the same problem, a certificate that does not verify, a wrong status, a crash.
"""


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("--limit", type=float, default=None, help="seconds for each solve, instead of the sections' own limits")
    arguments = parser.parse_args()
    report = Report("mip", arguments)
    quick, limit = report.quick, arguments.limit
    plot = report.out.with_name("mip_iterations.png")
    sections: dict[str, Callable[[], Section]] = {
        "certification": lambda: certification(quick, limit),
        "direct": lambda: against_direct(quick, limit),
        "iterations": lambda: iterations(quick, in_limit(limit, ITERATIONS_LIMIT, quick), plot),
        "swaps": lambda: swaps(quick, limit),
    }
    report.write(INTRODUCTION.format(repeats=REPEATS, short=SECONDS_FOR_REPEATS), sections)


if __name__ == "__main__":
    main()
