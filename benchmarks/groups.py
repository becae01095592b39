"""Groups of columns against abess and the group lasso of skglm, and exact searches over groups; writes Markdown tables.

python -m benchmarks.groups [--quick] [--only SECTION] [--out FILE]

ELLZERO_DATA names the folder with the real data. Sections that a call leaves out are kept from the last one
(build/bench-groups.json).
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

import ellzero as ez
from benchmarks.chosen_features import Chosen, tally, timed
from benchmarks.exact_data import CODES, file_of, labelled, missing
from benchmarks.sections import Report, Section, arguments_of
from experiments.measurement.markdown import table, three_digits

Array = NDArray[np.float64]
SIZES = (2, 5, 10, 15, 20)
RIDGE = 1e-3
INTRODUCTION = """# Groups of columns

Models of few groups of columns, by `ez.fit_sizes(groups=...)`, abess (`group=`) and, for squared error, the group lasso
of skglm. The methods have different penalties. So each tool's groups are fitted again by one solver, with the same ridge
(lambda_2 = 0.001 on unscaled columns): what is compared is the choice of groups. Processor seconds, one thread.
"""
DRAWN_TEXT = """n = {n:,}, p = {p:,} in groups of five columns, which have a correlation of 0.36 inside a group; ten groups
matter. Seeds {seeds}. Seconds for all models of up to 20 groups: abess in one sequence with warm starts, the group
lasso along 60 values of its penalty. "Better / equal / worse" counts sizes (2, 5, 10, 15, 20) by the objective of
ellzero's groups (coordinate descent; local search behind the stroke) compared with those of the other tool."""
REAL_TEXT = """Columns cut into bins (`ez.bins`), all models of up to ten groups. FICO: {fico}; breast cancer: 569 rows,
30 columns in five bins; TOX-171, classes 1 and 2: the 300 genes with the largest variance in three bins."""
EXACT_TEXT = """FICO's HELOC data, 23 attributes in bins of about a sixth of the rows, missing values in their own bins
({columns} columns): the best models of every size, proved. lambda_2 = {ridge:g}, at most {seconds:g} s each, two
threads."""


def drawn(n: int, p: int, loss: str, seed: int) -> tuple[Array, Array, NDArray[np.int64]]:
    """Groups of five columns that resemble each other; ten of them matter."""
    rng = np.random.default_rng(seed)
    groups = p // 5
    X = np.repeat(0.6 * rng.standard_normal((n, groups)), 5, axis=1) + 0.8 * rng.standard_normal((n, p))
    labels = np.repeat(np.arange(groups), 5)
    coef = np.where(np.isin(labels, rng.choice(groups, 10, replace=False)), 0.5 * rng.standard_normal(p), 0.0)
    eta = X @ coef
    y = (
        eta + eta.std() * rng.standard_normal(n)
        if loss == "squared_error"
        else np.sign(rng.random(n) - 1 / (1 + np.exp(2 * eta)))
    )
    return np.asfortranarray(X), y, labels


def by_ellzero(X: Array, y: Array, labels: NDArray[Any], loss: str, largest: int, algorithm: str) -> tuple[float, Chosen]:
    settings: dict[str, Any] = {"loss": loss, "lambda_2": RIDGE, "algorithm": algorithm, "groups": labels, "n_jobs": 1}
    seconds, found = timed(lambda: ez.fit_sizes(X, y, range(largest + 1), **settings))
    return seconds, {model.size: np.unique(labels[model.support]) for model in found}


def by_abess(X: Array, y: Array, labels: NDArray[Any], loss: str, largest: int, sizes: tuple[int, ...]) -> tuple[float, Chosen]:
    """The seconds of one sequence of sizes; its models are read one by one, since abess returns one of them."""
    import abess

    kind = abess.LinearRegression if loss == "squared_error" else abess.LogisticRegression
    target = y if loss == "squared_error" else (y > 0.0).astype(int)

    def fit(last: int) -> Any:
        return kind(support_size=range(last + 1), group=labels, ic_type="loss", alpha=RIDGE, thread=1).fit(X, target)

    seconds, model = timed(lambda: fit(largest))
    models = {size: model if size == largest else timed(partial(fit, size))[1] for size in sizes}
    chosen = [np.unique(labels[np.flatnonzero(np.ravel(each.coef_))]) for each in models.values()]
    return seconds, {len(each): each for each in chosen}


def by_group_lasso(X: Array, y: Array, labels: NDArray[Any], largest: int) -> tuple[float, Chosen]:
    """The largest model of each size along 60 values of the penalty, down to a hundredth of the first."""
    from skglm import GroupLasso

    centred, target = X - X.mean(axis=0), y - y.mean()
    sizes = np.bincount(labels).tolist()
    slopes = np.sqrt(np.bincount(labels, weights=(centred.T @ target / len(y)) ** 2))
    first = float((slopes / np.sqrt(sizes)).max())

    def path() -> Chosen:
        out: Chosen = {}
        model = GroupLasso(groups=sizes, weights=np.sqrt(sizes), fit_intercept=False, warm_start=True, tol=1e-5)
        for alpha in first * np.geomspace(1.0, 0.01, 60):
            model.alpha = alpha
            used = np.unique(labels[np.flatnonzero(model.fit(centred, target).coef_)])
            if len(used) > largest:
                break
            out[len(used)] = used
        return out

    return timed(path)


def cost_of(X: Array, y: Array, labels: NDArray[Any], loss: str, groups: NDArray[np.int64]) -> float:
    """The objective of all columns of some groups, by one solver for all tools."""
    columns = np.flatnonzero(np.isin(labels, groups))
    return ez.fit_path(np.asfortranarray(X[:, columns]), y, loss=loss, lambda_0=0.0, lambda_2=RIDGE)[0].cost


def compared(
    section: Section, name: str, X: Array, y: Array, labels: NDArray[Any], loss: str, largest: int, sizes: tuple[int, ...]
) -> list[str]:
    """The row of one problem."""
    known: dict[bytes, float] = {}

    def cost(groups: NDArray[np.int64]) -> float:
        if groups.tobytes() not in known:
            known[groups.tobytes()] = cost_of(X, y, labels, loss, groups)
        return known[groups.tobytes()]

    found = {algorithm: by_ellzero(X, y, labels, loss, largest, algorithm) for algorithm in ("cd", "local_search")}
    others: dict[str, tuple[float, Chosen]] = {"abess": by_abess(X, y, labels, loss, largest, sizes)}
    if loss == "squared_error":
        others["skglm"] = by_group_lasso(X, y, labels, largest)
    ours = {algorithm: {k: g for k, g in chosen.items() if k in sizes} for algorithm, (_, chosen) in found.items()}
    tallies = {
        tool: [tally(ours[algorithm] if tool == "abess" else found[algorithm][1], chosen, cost) for algorithm in found]
        for tool, (_, chosen) in others.items()
    }
    seconds = {tool: took for tool, (took, _) in {**found, **others}.items()}
    section.raw.append({"name": name, "loss": loss, "seconds": seconds, "tallies": tallies})
    row = [
        name,
        loss,
        *(three_digits(seconds[tool]) if tool in seconds else "-" for tool in ("cd", "local_search", "abess", "skglm")),
    ]
    row += [f"{seconds['abess'] / seconds['cd']:.1f}"]
    row += [" \\| ".join(tallies[tool]) if tool in tallies else "-" for tool in ("abess", "skglm")]
    print(" | ".join(row), flush=True)
    return row


HEADER = [
    "data",
    "loss",
    "ellzero, descent",
    "ellzero, search",
    "abess",
    "skglm",
    "abess / descent",
    "beside abess",
    "beside skglm",
]


def synthetic(quick: bool) -> Section:
    section = Section("Drawn data")
    n, p, seeds = (300, 1_000, range(1)) if quick else (1_000, 10_000, range(3))
    rows = [
        compared(section, f"seed {seed}", *drawn(n, p, loss, seed), loss, SIZES[-1], SIZES)
        for loss in ("logistic", "squared_error")
        for seed in seeds
    ]
    text = DRAWN_TEXT.format(n=n, p=p, seeds=", ".join(map(str, seeds)))
    section.text = f"{text}\n\n{table(HEADER, rows)}"
    return section


def fico() -> tuple[pd.DataFrame, Array]:
    """FICO's attributes with gaps, and the target."""
    frame = pd.read_csv(file_of("fico.csv"))
    target = frame.columns[-1]
    values = frame.drop(columns=target).astype(float)
    return values.mask(values.isin(CODES)), np.where(frame[target] > 0, 1.0, -1.0)


def labels_of(frame: pd.DataFrame) -> NDArray[np.int64]:
    return pd.factorize(np.array([name.rsplit("=", 1)[0] for name in frame.columns]))[0].astype(np.int64)


def real(quick: bool) -> Section:
    section = Section("Real data")
    if reason := missing("FICO"):
        section.text = reason
        return section
    data = load_breast_cancer(as_frame=True)
    genes, tissue = labelled("TOX_171_171x5748.npz", ((1,), (2,)))
    varied = np.sort(np.argsort(-genes.var(axis=0), kind="stable")[:300])
    credit, repaid = fico()
    cases = {
        "breast cancer": (ez.bins(data.data, 5), np.where(data.target > 0, 1.0, -1.0)),
        "TOX-171": (ez.bins(genes[:, varied], 3), tissue),
        "FICO": (ez.bins(credit, 6), repaid),
    }
    sizes = tuple(range(1, 4 if quick else 11))
    rows = []
    for name, (frame, y) in cases.items():
        X = np.asfortranarray(frame.to_numpy())
        rows.append(compared(section, f"{name}, {X.shape[1]} columns", X, y, labels_of(frame), "logistic", sizes[-1], sizes))
    text = REAL_TEXT.format(fico=f"{len(repaid):,} rows, 23 attributes in six bins")
    section.text = f"{text}\n\n{table(HEADER, rows)}"
    return section


def exact(quick: bool) -> Section:
    section = Section("Proved")
    if reason := missing("FICO"):
        section.text = reason
        return section
    credit, y = fico()
    frame, ridge, limit = ez.bins(credit, 6), 1e-3, 10.0 if quick else 30.0
    rows = []
    for k in range(1, 4 if quick else 24):
        start = time.perf_counter()
        found = ez.solve(frame, y, k=k, groups="auto", lambda_2=ridge, time_limit=limit, n_jobs=2)
        seconds = time.perf_counter() - start
        report = ez.verify(found.certificate, frame, y)
        if not report.valid:
            section.checks.append(f"k = {k}: {report.reasons}")
        gap = f"{100.0 * found.gap:.2g} %"
        rows.append(
            [str(k), f"{found.objective:.6f}", found.status, gap, three_digits(seconds), f"{found.nodes:,}", str(report.valid)]
        )
        section.raw.append({"k": k, "objective": found.objective, "gap": found.gap, "seconds": seconds, "nodes": found.nodes})
        print(" | ".join(rows[-1]), flush=True)
    header = ["groups", "objective", "status", "gap", "seconds", "nodes", "verified"]
    section.text = f"{EXACT_TEXT.format(columns=frame.shape[1], ridge=ridge, seconds=limit)}\n\n{table(header, rows)}"
    return section


def main() -> None:
    """Run the chosen sections and write the report."""
    arguments = arguments_of(__doc__).parse_args()
    quick = bool(arguments.quick)
    sections = {"drawn": lambda: synthetic(quick), "real": lambda: real(quick), "exact": lambda: exact(quick)}
    Report("groups", arguments).write(INTRODUCTION, sections)


if __name__ == "__main__":
    main()
