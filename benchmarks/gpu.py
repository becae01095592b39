"""X on a GPU: passes, paths, proofs and cross-validation, compared with the cores of the host.

Run it with `make bench-gpu` on a machine with a CUDA device, CuPy and PyTorch. BENCH="--seconds 600" ends it early: what is
left then is not in the table. BENCH="--quick" makes small problems, to see that everything works.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from ellzero.design.device_fused import FusedScreening, FusedSwaps
from ellzero.design.device_passes import FusedPasses, WidenedPasses
from ellzero.design.store import Moments, Products
from ellzero.design.stored import Passes
from experiments.measurement.markdown import table

RESULTS = Path(__file__).parent / "results" / "gpu.md"
BLOCK = 1 << 16  # columns that are made together
TRUE_FEATURES = 5
MOST_COPIED = 100.0  # gigabytes
PROVED_ROWS = 10_000  # with fewer the proof takes long anywhere
PROOF_SECONDS = 10.0
PEAK = 4.8e12  # bytes a second that an H200 moves, as its maker says
FAMILY_SIZE = 16_000  # rows and columns of the family with correlated columns
SETTINGS: dict[str, Any] = {"lambda_2": 1e-3, "max_support": 30}
FITS: dict[str, dict[str, Any]] = {
    "cd": {"algorithm": "cd"},
    "local search, quick": {"algorithm": "local_search", "effort": "quick"},
    "local search": {"algorithm": "local_search"},
}
LOSSES = ("logistic", "squared_hinge", "hinge", "squared_error")
INTRODUCTION = """# X on a GPU

Independent standard normal columns in float32, made on the device; five of them matter, labels from a logistic model.
Paths have up to 30 features, lambda_2 = 0.001. Seconds are medians of the given number of runs, after one that is not
counted where there are several. "Reads" are bytes of X that were read, over those of one pass; their share of the peak is
that of 4.8 TB/s, over the whole time. The host's runs are of the same X, copied to its memory. Objectives are computed on the
host, in float64, from columns that are taken.

"The path's models" compares supports with those of the first fit of that kind, on the device. Where sums in another order lead
to another model, the same happens on one machine when rows change places: a section shows that.
"""


class Clock:
    """The time that is left."""

    def __init__(self, seconds: float) -> None:
        self.end = time.perf_counter() + seconds

    def allows(self, seconds: float) -> bool:
        return time.perf_counter() + seconds < self.end


class Report:
    """The page, written again whenever something is added: a run that is ended leaves what it has measured."""

    def __init__(self, path: Path) -> None:
        self.path, self.parts = path, [INTRODUCTION]
        self.supports: dict[tuple[Any, ...], list[list[int]]] = {}  # of the first fit of each kind, which is the device's

    def add(self, text: str) -> None:
        print(text, flush=True)
        self.parts.append(text)
        self.path.write_text("\n\n".join(part.strip("\n") for part in self.parts) + "\n", encoding="utf-8")

    def section(self, title: str) -> None:
        self.add(f"## {title}")


def synchronize() -> None:
    cupy = import_module("cupy")
    cupy.cuda.get_current_stream().synchronize()


def timed(call: Callable[[], Any], runs: int) -> tuple[float, Any]:
    """Return the median of the times of some runs, the first of several left out, and the last result."""
    seconds = []
    for _ in range(runs if runs == 1 else runs + 1):
        start = time.perf_counter()
        result = call()
        synchronize()
        seconds.append(time.perf_counter() - start)
    return median(seconds[1:] or seconds), result


def problem(n: int, p: int) -> tuple[Any, NDArray[np.int64]]:
    """Return X on the device, by column, and labels; the memory of the last one is free before."""
    cupy, torch = import_module("cupy"), import_module("torch")
    gc.collect()
    torch.cuda.empty_cache()
    cupy.get_default_memory_pool().free_all_blocks()
    torch.manual_seed(1)
    columns = torch.empty((p, n), dtype=torch.float32, device="cuda")
    for first in range(0, p, BLOCK):
        columns[first : first + BLOCK].normal_()
    true = torch.as_tensor(np.linspace(0, p - 1, TRUE_FEATURES).astype(int), device="cuda")
    eta = columns[true].sum(0).double().cpu().numpy()
    return columns.T, np.where(np.random.default_rng(1).random(n) < 1.0 / (1.0 + np.exp(-eta)), 1, -1)


def copied(X: Any) -> NDArray[np.float32]:
    """Copy X to the host's memory."""
    torch, columns = import_module("torch"), X.T
    out = np.empty(tuple(columns.shape), dtype=np.float32)

    def copy(first: int) -> None:
        torch.from_numpy(out[first : first + BLOCK]).copy_(columns[first : first + BLOCK])

    with ThreadPoolExecutor(8) as pool:  # most of the time goes to memory that is used for the first time
        list(pool.map(copy, range(0, len(columns), BLOCK)))
    return out.T


def random_arrays(n: int, p: int) -> Iterator[tuple[str, NDArray[Any], Any]]:
    """Yield small arrays on the host and the same on the device, in both orders and several types, of CuPy and PyTorch."""
    cupy, torch = import_module("cupy"), import_module("torch")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)).astype(np.float32)
    for name, put in (("cupy", cupy.asarray), ("torch", lambda array: torch.asarray(array, device="cuda"))):
        yield f"{name}, by row", X, put(X)
        yield f"{name}, by column", X, put(np.ascontiguousarray(X.T)).T
    yield "cupy, float64", X.astype(float), cupy.asarray(X.astype(float))
    counts = rng.integers(0, 3, (n, p)).astype(np.int8)
    yield "cupy, int8, by column", counts, cupy.asarray(np.ascontiguousarray(counts.T)).T


def right_answers(report: Report) -> None:
    """Hold products, paths and certificates of the device against those of the host."""
    report.section("The same answers")
    lines = []
    n, p = 301, 5003
    weight = np.random.default_rng(1).uniform(0.5, 2.0, n)
    for name, X, array in random_arrays(n, p):
        store = ez.DeviceStore(array)
        vectors = np.random.default_rng(2).standard_normal((21, n))
        share, exact = weight / weight.sum(), X.astype(float)
        _, answers = next(store.scan([Products(vectors), Moments(share)]))
        mean = share @ exact
        errors = [
            np.max(np.abs(answers[0] - vectors @ exact)),
            np.max(np.abs(answers[1][:2] - [mean, share @ (exact - mean) ** 2])),
        ]
        score = exact[:, :5].sum(1) + np.random.default_rng(3).standard_normal(n)
        same, apart = True, 0.0
        for loss in LOSSES if name.startswith("cupy, by column") else LOSSES[:1]:
            y = score if loss == "squared_error" else np.where(score > np.median(score), 1, -1)
            options: dict[str, Any] = {
                "loss": loss,
                "lambda_2": 1e-2,
                "standardize": True,
                "sample_weight": weight,
                "max_support": 8,
            }
            here, there = (ez.fit_path(each, y, **FITS["local search, quick"], **options) for each in (X, store))
            same &= [m.support.tolist() for m in here] == [m.support.tolist() for m in there]
            apart = max(apart, float(np.max(np.abs(here.objective / there.objective - 1.0)))) if same else np.inf
        y = np.where(score > np.median(score), 1, -1)
        proof = ez.solve(store, y, k=2, lambda_2=0.3, time_limit=5).certificate
        valid = all(ez.verify(proof, each, y).valid for each in (X, array))
        kind = type(store.passes).__name__
        lines.append([name, kind, f"{errors[0]:.0e}", f"{errors[1]:.0e}", "yes" if same else "NO", f"{apart:.0e}", str(valid)])
    head = ["array", "passes", "products", "moments", "same supports", "objectives", "proof verified, host and device"]
    report.add(table(head, lines))


def pass_times(report: Report, X: Any) -> None:
    """Time single passes: ours, a product in float32 without its error bound, and one of a widened X."""
    torch = import_module("torch")
    torch.backends.cuda.matmul.allow_tf32 = False
    store = ez.DeviceStore(X)
    n, p = store.shape
    lines = []
    widened = WidenedPasses(store.xp, store.array, store.by_column)
    for sides in (1, 4, 8, 16):
        vectors = store.send(np.random.default_rng(0).standard_normal((sides, n)))
        narrow = torch.as_tensor(np.random.default_rng(0).standard_normal((sides, n)), device="cuda", dtype=torch.float32)
        seconds = [
            timed(partial(store.passes.products, vectors, 0, p), 3)[0],
            timed(partial(torch.matmul, narrow, X), 3)[0],
            timed(partial(widened.products, vectors, 0, p), 1)[0],
        ]
        rate = store.nbytes / seconds[0] / 1e12
        lines.append([str(sides), *(f"{1e3 * each:.2f}" for each in seconds), f"{rate:.2f}", share_of_peak(rate * 1e12)])
    weights = store.send(np.full(n, 1.0 / n))
    seconds = [timed(partial(each.moments, weights, 0, p), 2)[0] for each in (store.passes, widened)]
    rate = store.nbytes / seconds[0]
    shown = [f"{1e3 * seconds[0]:.2f}", "", f"{1e3 * seconds[1]:.2f}", f"{rate / 1e12:.2f}", share_of_peak(rate)]
    lines.append(["moments", *shown])
    head = ["vectors", "our kernels, ms", "float32 product, ms", "widened, ms", "X read by ours, TB/s", "of the peak"]
    report.add(table(head, lines))


def share_of_peak(rate: float) -> str:
    return f"{100.0 * rate / PEAK:.0f} %"


PROFILED = {
    FusedPasses: ("products", "moments"),
    FusedScreening: ("add", "forget", "read", "test"),
    FusedSwaps: ("renew", "add", "read_slopes", "rank"),
    Passes: ("ask", "columns"),
}


@contextmanager
def profiled() -> Iterator[dict[str, list[float]]]:
    """Count the seconds and calls of what is done on the device, each without what it calls."""
    spent: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    inner = [0.0]

    def wrapped(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            inner.append(0.0)
            start = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                synchronize()
                seconds = time.perf_counter() - start
                spent[name][0] += seconds - inner.pop()
                spent[name][1] += 1
                inner[-1] += seconds

        return call

    kept = [(owner, name, getattr(owner, name)) for owner, names in PROFILED.items() for name in names]
    for owner, name, function in kept:
        setattr(owner, name, wrapped(f"{owner.__name__}.{name}", function))
    try:
        yield spent
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)


def profile(report: Report, X: Any, y: NDArray[np.int64], name: str) -> None:
    """Say what the time of a path goes to."""
    with profiled() as spent:
        start = time.perf_counter()
        ez.fit_path(X, y, **SETTINGS, **FITS[name], n_jobs=-1)
        seconds = time.perf_counter() - start
    spent["the host's own work"] = [seconds - sum(each for each, _ in spent.values()), 1]
    ordered = sorted(spent.items(), key=lambda item: -item[1][0])
    report.add(f"\nWhat the {seconds:.2f} s of {name} go to (with a wait after every step):\n")
    report.add(table(["part", "seconds", "calls"], [[part, f"{each:.3f}", f"{int(calls)}"] for part, (each, calls) in ordered]))


def path_times(report: Report, X: Any, y: NDArray[np.int64], names: dict[str, int], clock: Clock) -> None:
    """Time paths with this number of runs of each."""
    lines = []
    for name, runs in names.items():
        if not clock.allows(5.0):
            break
        seconds, path = timed(partial(ez.fit_path, X, y, **SETTINGS, **FITS[name], n_jobs=-1), runs)
        supports = [model.support.tolist() for model in path]
        first = report.supports.setdefault((*X.shape, name), supports)
        lines.append(
            [
                name,
                f"{seconds:.2f}",
                str(runs),
                str(len(path)),
                f"{path.reads:.1f}",
                share_of_peak(path.reads * 4.0 * X.shape[0] * X.shape[1] / seconds),
                f"{path.objective[-1]:.8f}",
                f"{path.at_support(TRUE_FEATURES).objective:.8f}",
                f"{sum(support in first for support in supports)} of {len(first)}",
            ]
        )
        print(lines[-1], flush=True)
    last = ["last objective", f"of {TRUE_FEATURES} features", "the path's models"]
    report.add(table(["path", "seconds", "runs", "points", "reads", "of the peak", *last], lines))


def proof_time(report: Report, X: Any, y: NDArray[np.int64]) -> None:
    """Time the proof of the best model of five features."""
    start = time.perf_counter()
    found = ez.solve(X, y, k=TRUE_FEATURES, lambda_2=0.05, time_limit=PROOF_SECONDS, n_jobs=-1)
    seconds = time.perf_counter() - start
    report.add(f"\nsolve(k = 5, lambda_2 = 0.05): {found.status}, gap {found.gap:.1e}, {seconds:.2f} s, {found.nodes} nodes.")


def certified_time(report: Report, X: Any, y: NDArray[np.int64]) -> None:
    """Time the proofs of a path of up to five features."""
    path = ez.fit_path(X, y, lambda_2=0.05, max_support=TRUE_FEATURES, n_jobs=-1)
    start = time.perf_counter()
    found = ez.certify_path(path, time_limit=PROOF_SECONDS, n_jobs=-1)
    seconds = time.perf_counter() - start
    proved = sum(status == "optimal" for status in found.status)
    report.add(f"\ncertify_path (lambda_2 = 0.05): {proved} of {len(found.status)} points proved, {seconds:.2f} s.")


def validation_time(report: Report, X: Any, y: NDArray[np.int64]) -> None:
    """Time cross-validation."""
    chosen = ez.L0ClassifierCV(shrinkage=[1e-3], max_support=30, cv=5, n_jobs=-1)
    start = time.perf_counter()
    chosen.fit(X, y)
    seconds = time.perf_counter() - start
    size = int(np.count_nonzero(chosen.coef_))
    report.add(f"\nL0ClassifierCV (5 folds, one shrinkage, standardised): {seconds:.2f} s, {size} features chosen.")


def on_device(report: Report, device: str, n: int, p: int, clock: Clock) -> None:
    """Measure everything of one size on the device."""
    if not clock.allows(10.0):
        return
    gigabytes = 4e-9 * n * p
    report.section(f"n = {n:,}, p = {p:,} ({gigabytes:.0f} GB) on {device}")
    X, y = problem(n, p)
    if gigabytes < MOST_COPIED:
        pass_times(report, X)
    path_times(report, X, y, {"cd": 3, "local search, quick": 3, "local search": 1}, clock)
    profile(report, X, y, "cd")
    profile(report, X, y, "local search, quick")
    larger_fits(report, X, y, clock)


def larger_fits(report: Report, X: Any, y: NDArray[np.int64], clock: Clock) -> None:
    """Time proofs and cross-validation."""
    n, p = X.shape
    if n < PROVED_ROWS:
        return
    if clock.allows(15.0):
        proof_time(report, X, y)
    if 4e-9 * n * p < MOST_COPIED:
        for measure in (certified_time, validation_time):
            if clock.allows(60.0):
                measure(report, X, y)


def rows_in_other_places(report: Report, n: int, p: int, clock: Clock) -> None:
    """Fit the same rows in several orders: only the order of sums changes."""
    torch = import_module("torch")
    if not clock.allows(15.0):
        return
    report.section(f"n = {n:,}, p = {p:,}, rows in other places")
    X, y = problem(n, p)
    first = [model.support.tolist() for model in ez.fit_path(X, y, **SETTINGS, **FITS["cd"], n_jobs=-1)]
    columns, lines = X.T, [["as made", str(len(first)), f"{len(first)} of {len(first)}"]]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(n)
        there = torch.as_tensor(order, device="cuda")
        for start in range(0, p, BLOCK):  # in place: there is no room for a second X
            columns[start : start + BLOCK] = columns[start : start + BLOCK][:, there]
        y = y[order]
        supports = [model.support.tolist() for model in ez.fit_path(X, y, **SETTINGS, **FITS["cd"], n_jobs=-1)]
        lines.append([f"order {seed + 1}", str(len(supports)), f"{sum(each in first for each in supports)} of {len(first)}"])
    report.add(table(["rows", "points of cd", "models of the first path"], lines))


def correlated(response: str) -> tuple[Any, NDArray[np.float64]]:
    """Return the family of `benchmarks.exact`, n = p and corr(x_i, x_j) = 0.9^|i-j|, made on the device."""
    torch = import_module("torch")
    n = FAMILY_SIZE
    torch.manual_seed(0)
    columns = torch.empty((n, n), dtype=torch.float64, device="cuda")
    columns.normal_()
    for j in range(1, n):
        columns[j] = 0.9 * columns[j - 1] + np.sqrt(1.0 - 0.9**2) * columns[j]
    true = torch.as_tensor(np.linspace(0, n - 1, 12).astype(int)[1:-1], device="cuda")
    eta, rng = columns[true].sum(0).cpu().numpy(), np.random.default_rng(0)
    if response == "logistic":
        return columns.T, np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-eta)), 1.0, -1.0)
    return columns.T, eta + rng.standard_normal(n) * np.sqrt(eta.var() / 5.0)


def exact_family(report: Report, clock: Clock) -> None:
    """Prove the correlated family on the device and on the host."""
    report.section(f"Correlated columns, n = p = {FAMILY_SIZE:,}, float64 (2 GB)")
    lines = []
    for response, loss in (("linear", "squared_error"), ("logistic", "logistic")):
        if not clock.allows(60.0):
            break
        there, y = correlated(response)
        scale = 1.0 / FAMILY_SIZE * (0.5 if response == "linear" else 1.0)
        options: dict[str, Any] = {
            "loss": loss,
            "k": 10,
            "lambda_2": scale,
            "lower": -2.0,
            "upper": 2.0,
            "fit_intercept": False,
        }
        here = np.ascontiguousarray(there.T.cpu().numpy()).T
        for place, X in (("device", there), (f"{os.cpu_count()} cores", here)):
            start = time.perf_counter()
            found = ez.solve(X, y, **options, n_jobs=-1)
            seconds = time.perf_counter() - start
            lines.append([response, place, f"{seconds:.1f}", str(found.nodes), found.status, f"{found.objective:.10f}"])
            print(lines[-1], flush=True)
    report.add(table(["response", "X on", "seconds", "nodes", "status", "objective"], lines))


def on_host(report: Report, n: int, p: int, clock: Clock) -> None:
    """Measure the same with the host's cores."""
    gigabytes = 4e-9 * n * p
    if not clock.allows(gigabytes + 10.0):
        return
    report.section(f"n = {n:,}, p = {p:,} ({gigabytes:.0f} GB) on {os.cpu_count()} cores")
    there, y = problem(n, p)
    X = copied(there)
    del there
    names = {"cd": 1, "local search, quick": 1} | ({"local search": 1} if n < PROVED_ROWS else {})
    path_times(report, X, y, names, clock)
    larger_fits(report, X, y, clock)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--seconds", type=float, default=1800.0, help="what is left after these is not measured")
    parser.add_argument("--quick", action="store_true", help="small problems")
    arguments = parser.parse_args()
    cupy = import_module("cupy")
    clock, report = Clock(arguments.seconds), Report(arguments.out)
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    command = f'`make bench-gpu BENCH="--seconds {arguments.seconds:g}"` on {time.strftime("%Y-%m-%d")}'
    report.add(f"{command}, ellzero {ez.__version__}, {device}, {os.cpu_count()} cores of the host.")
    right_answers(report)
    small = 100 if arguments.quick else 1
    sizes = [(1_000, 1_000_000 // small), (10_000, 1_000_000 // small), (10_000, 3_000_000 // small)]
    for n, p in sizes:
        on_device(report, device, n, p, clock)
    rows_in_other_places(report, *sizes[1], clock)
    for n, p in sizes[:2]:
        on_host(report, n, p, clock)
    exact_family(report, clock)


if __name__ == "__main__":
    main()
