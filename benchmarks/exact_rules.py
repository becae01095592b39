"""Section of the exact benchmark: how features that resemble each other are decided, against simpler rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.exact_data import load, missing
from benchmarks.exact_runs import GAP, Job, Outcome, percent, seconds_shown
from benchmarks.sections import Section
from experiments.measurement.markdown import table

__all__ = ["rules"]

RULES: dict[str, dict[str, Any]] = {
    "default": {},
    "singly": {"alike": 2.0},
    "0.5": {"alike": 0.5},
    "0.7": {"alike": 0.7},
}
SEEDS = range(5)
SHAPE = {"kind": "drawn", "n": 500, "p": 500, "k": 6}
FAMILIES: dict[str, dict[str, Any]] = {
    "independent": SHAPE,
    "0.9^\\|i-j\\|": SHAPE | {"correlation": "exponential", "rho": 0.9},
    "all 0.5": SHAPE | {"correlation": "constant", "rho": 0.5},
    "five copies": SHAPE | {"kind": "copied"},
}
LOSSES = {"linear": "squared_error", "logistic": "logistic", "squared hinge": "squared_hinge"}
# Of real data, k and lambda_2 of the sum of the losses: without more of it, a squared error is hardly ever proved.
REAL_SETTINGS = {"linear": (4, 10.0), "logistic": (4, 1.0), "squared hinge": (2, 1.0)}
GENES_AND_WORDS = ("colon", "leukemia", "lymphoma", "TOX, classes 1 and 2", "dexter")
TEXT = """Which features are decided together: the default rule (a correlation of 0.5 and more, higher where rows are few or
blocks are large), against every feature on its own ("singly"), and against fixed correlations of 0.5 and 0.7. Most of the
families had no part in making the rule. Drawn ones have n = {n:,}, p = {p:,}, k = {k} with coefficients of 1, a
signal-to-noise ratio of 5 or drawn labels, no intercept, lambda_2 = 1 / n, seeds 0 to {last}. Genes and words have
standardised columns and an intercept: the squared error of the labels with k = 4 and lambda_2 = 10 / n, the logistic loss
with k = 4 and 1 / n, the squared hinge with k = 2 and 1 / n. No bound, at most {limit:g} s each, `n_jobs=2`, `gap={gap:g}`,
one run each. Entries are medians: seconds and nodes or, where these are open, the gap and nodes. Lower bounds of the default
rule are recomputed from its certificates."""
COMPARED = """The last column is the default divided by the best of the other three, problem by problem, and then the median:
seconds where both closed, gaps where both are open. The worst come first."""


def families(quick: bool) -> list[tuple[str, str, list[Job], str]]:
    """Return the name, the response, the problems and what is missing of each family."""
    base = {"bound": None, "gap": GAP, "time_limit": 2.0 if quick else 20.0, "n_jobs": 2}
    small = {"n": 200, "p": 100} if quick else {}
    out = []
    for response, loss in LOSSES.items():
        for name, shape in FAMILIES.items() if response in ("linear", "logistic") else ():
            data = shape | small | {"response": response}
            options = base | {"loss": loss, "k": shape["k"], "lambda_2": 1.0 / data["n"], "fit_intercept": False}
            seeds = SEEDS[:2] if quick else SEEDS
            out.append((name, response, [Job(data | {"seed": seed}, options, verify=True, repeats=1) for seed in seeds], ""))
        for name in GENES_AND_WORDS[:1] if quick else GENES_AND_WORDS:
            if without := missing(name):
                out.append((name, response, [], without))
                continue
            n = len(load({"kind": name})[1])
            k, shrinkage = REAL_SETTINGS[response]
            options = base | {"loss": loss, "k": k, "lambda_2": shrinkage / n, "standardize": True}
            out.append((name, response, [Job({"kind": name}, options, verify=True, repeats=1)], ""))
    return out


def median_entry(results: Sequence[Outcome | str]) -> str:
    """Return the median seconds and nodes; nodes and the median gap if the median is open."""
    good = [result for result in results if isinstance(result, Outcome)]
    if not good:
        return str(results[0])
    nodes = int(np.median([result.nodes for result in good]))
    gap = float(np.median([result.gap() for result in good]))
    if gap > (1.0 + 1e-6) * GAP:
        return f"{percent(gap)}, {nodes:,} nodes"
    return f"{seconds_shown(float(np.median([result.seconds for result in good])))} s, {nodes:,} nodes"


def cost(result: Outcome | str) -> tuple[bool, float]:
    """Return whether a result is open, and its gap or its seconds: a smaller pair is a better result."""
    if isinstance(result, str):
        return True, np.inf
    is_open = result.status != "optimal"
    return is_open, result.gap() if is_open else result.seconds


def comparison(default: Sequence[Outcome | str], others: Sequence[Sequence[Outcome | str]]) -> tuple[float, str]:
    """Return the median ratio of the default to the best of the others, and its words."""
    ratios = []
    for i, result in enumerate(default):
        mine, best = cost(result), min(cost(other[i]) for other in others)
        ratios.append(mine[1] / best[1] if mine[0] == best[0] else np.inf if mine[0] else 0.0)
    ratio = float(np.median(ratios))
    words = {0.0: "closed by the default alone", np.inf: "closed by another alone"}
    return ratio, words.get(ratio, f"{ratio:.2f}")


def rules(quick: bool) -> Section:
    section = Section("Which features are decided together")
    cells = families(quick)
    jobs = [
        Job(job.data, job.options, verify=job.verify and not internal, repeats=1, internal=internal)
        for *_, problems, _ in cells
        for internal in RULES.values()
        for job in problems
    ]
    results = iter(section.solve_all(jobs))
    rows: list[tuple[float, list[str]]] = []
    for name, response, problems, without in cells:
        if without:
            section.text += f"{without}\n\n"
            continue
        of_rule = {rule: [next(results) for _ in problems] for rule in RULES}
        default, *others = of_rule.values()
        best = min(list(RULES)[1:], key=lambda rule: np.median([cost(result) for result in of_rule[rule]], axis=0).tolist())
        ratio, words = comparison(default, others)
        rows.append((ratio, [name, response, str(len(problems)), *map(median_entry, of_rule.values()), best, words]))
    header = ["columns", "response", "problems", *RULES, "best of the others", "default / best"]
    shape = {key: FAMILIES["independent"][key] for key in ("n", "p", "k")}
    text = TEXT.format(**shape, last=SEEDS[-1], limit=jobs[0].options["time_limit"], gap=GAP)
    rows.sort(key=lambda pair: -pair[0])
    section.text = f"{text}\n\n{COMPARED}\n\n{section.text}{table(header, [cells for _, cells in rows])}"
    return section
