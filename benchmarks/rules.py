"""Rules on features: against enumeration and SCIP, and products of columns with strong heredity; writes Markdown tables.

python -m benchmarks.rules [--quick] [--only SECTION] [--out FILE]

The first section runs a test of this repository on more problems. Sections that a call leaves out are kept from the last one
(build/bench-rules.json).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from benchmarks.sections import Report, Section, arguments_of
from experiments.measurement.markdown import table, three_digits

Array = NDArray[np.float64]
ROOT = Path(__file__).parent.parent
RULED, SCIP_PROBLEMS = 600, 60
SEED = 40
ACCURATE = 1e-5
SCIP_SECONDS = 60.0
INTRODUCTION = """# Rules on features

`rules` say which features may, or must, be in a model together: `at_most`, `at_least`, `exactly`, `requires`
(strong or weak heredity) and `together`. See the [guide](../../docs/guide/rules.md).
"""
ENUMERATION_TEXT = """`tests/reference/test_rules.py` with {count} random problems, seeds 0 to {last}: four losses, every
mixture of penalties, a limit on the number of features, a price or a budget, groups, unpenalized features, bounds,
weights, and one to three random rules. Each problem is solved by enumeration (every support that obeys, by Clarabel)
and by `ez.solve`. It passes if the model obeys, its objective is the least to 2e-6, the certificate is valid for the
rules, its bound is below the least objective, and the certificate is refused for other rules. On every fourth problem,
each rule of the certificate is loosened in turn: the verifier must refuse it, or its bound must hold for all that obey
what is left."""
SCIP_TEXT = """{count} random problems with n = {n}, p = {p} and three to six random rules each, seeds from {seed} on: bounds
of 2 on all coefficients, half with costs and a budget, some with unpenalized features. `ez.solve` (gap 1e-6, certificates
verified) against SCIP {version} on a formulation of its own, written in this program: switches, rules as rows, quadratic
terms (at most {seconds:g} s). They agree if the objectives differ by at most {accurate:g} of themselves and neither's lower
bound exceeds the other's objective."""
INTERACTIONS_TEXT = """p = {p} main effects drawn from a normal distribution, and their {products:,} products from
`ez.interactions`; the truth has three main effects and two of their products, with coefficients of 1 (signal-to-noise
ratio 5, or drawn labels). k = 5, lambda_2 = 1 / n, columns standardised, one thread, at most {seconds:g} s for each proof,
search for the first model included. "Strong" has the rules of strong heredity, one for each product; "free" has none.
"Found" says whether the support is the true one. The machine was shared: compare seconds within a row only."""
PUBLISHED = """Published sizes of other tools for strong heredity, as their authors give them, not measured here: none of these
tools proves how good its selection is. hierScale (a convex relaxation, squared error only): "p = 50,000"
([paper](https://arxiv.org/abs/1902.01542)). glinternet (group lasso, squared error and logistic loss): its paper has
a genome-wide association study ([paper](https://doi.org/10.1080/10618600.2014.938812)). hierNet: "100-200 variables"
([manual](https://search.r-project.org/CRAN/refmans/hierNet/html/hierNet.html))."""


def enumeration(quick: bool) -> Section:
    """Return how many random problems agree with enumeration."""
    section, count = Section("Against enumeration"), 40 if quick else RULED
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.xml"
        test = ["tests/reference/test_rules.py", "-k", "proof_against_enumeration", "-q", f"--junitxml={file}"]
        environment = os.environ | {"ELLZERO_RULED": str(count), "OMP_NUM_THREADS": "1"}
        subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *test], cwd=ROOT, env=environment, check=False
        )
        cases = list(ElementTree.parse(file).iter("testcase"))
    failed = [case.attrib["name"] for case in cases if len(case)]
    section.checks += [f"{name} failed" for name in failed]
    rows = [[str(len(cases)), str(len(cases) - len(failed)), str(len(failed))]]
    text = ENUMERATION_TEXT.format(count=count, last=count - 1)
    section.text = f"{text}\n\n{table(['problems', 'pass', 'fail'], rows)}"
    return section


def random_rule(rng: np.random.Generator, p: int) -> ez.Rule:
    """Return a random rule on some of p columns."""
    some = rng.permutation(p)[: rng.integers(3, 9)].tolist()
    kind = str(rng.choice(["at_most", "at_least", "exactly", "all", "any", "together"], p=[0.3, 0.1, 0.1, 0.2, 0.2, 0.1]))
    if kind in ("all", "any"):
        return ez.requires(some[0], some[1:3] if kind == "all" else some[1:], kind)
    if kind == "together":
        return ez.together(some[:3])
    return ez.Rule(kind, tuple(some), int(rng.integers(1, 3)))


def random_problem(seed: int, n: int, p: int) -> tuple[Array, Array, dict[str, Any]]:
    """Return X, y and settings of a random problem that some model solves."""
    rng = np.random.default_rng(seed)
    loss = ("squared_error", "hinge", "squared_hinge")[seed % 3]
    X = rng.standard_normal((n, p)) + rng.choice([0.0, 1.0]) * rng.standard_normal((n, 1))
    eta = X[:, : p // 2] @ rng.standard_normal(p // 2)
    y = eta + eta.std() * rng.standard_normal(n)
    y = y / y.std() if loss == "squared_error" else np.where(y > 0.0, 1.0, -1.0)
    settings: dict[str, Any] = {"loss": loss, "lambda_2": 0.02, "lower": -2.0, "upper": 2.0}
    if rng.random() < 0.3:
        settings["unpenalized"] = [int(rng.integers(p))]
    settings["k"] = 6
    if rng.random() < 0.5:
        settings |= {"k": None, "budget": 10.0, "feature_cost": rng.integers(1, 4, p).astype(float), "lambda_0": 0.002}
    while True:
        settings["rules"] = [random_rule(rng, p) for _ in range(rng.integers(3, 7))]
        try:
            ez.solve(X, y, **settings, node_limit=1, progress=False)
        except ez.InvalidInputError:  # they contradict each other, or the limit
            continue
        return X, y, settings


def solve_by_scip(X: Array, y: Array, settings: dict[str, Any]) -> tuple[float, float]:
    """Return SCIP's best objective and lower bound of a problem, from a formulation that shares nothing with the package."""
    import pyscipopt

    (n, p), loss, free = X.shape, settings["loss"], set(settings.get("unpenalized", []))
    cost = np.ones(p) if settings.get("feature_cost") is None else settings["feature_cost"]
    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("limits/time", SCIP_SECONDS)
    model.setParam("limits/gap", 1e-6)
    b = [model.addVar(lb=-2.0, ub=2.0) for _ in range(p)]
    z = [1 if j in free else model.addVar(vtype="B") for j in range(p)]
    intercept, fit, size = model.addVar(lb=None), model.addVar(lb=0.0), model.addVar(lb=0.0)
    for j in set(range(p)) - free:
        model.addCons(b[j] <= 2.0 * z[j])
        model.addCons(b[j] >= -2.0 * z[j])
    eta = [intercept + pyscipopt.quicksum(float(X[i, j]) * b[j] for j in range(p)) for i in range(n)]
    if loss == "squared_error":
        rest = [model.addVar(lb=None) for _ in range(n)]
        for i in range(n):
            model.addCons(rest[i] == float(y[i]) - eta[i])
    else:
        rest = [model.addVar(lb=0.0) for _ in range(n)]
        for i in range(n):
            model.addCons(rest[i] >= 1.0 - float(y[i]) * eta[i])
    if loss == "hinge":
        model.addCons(fit >= pyscipopt.quicksum(rest) / n)
    else:
        model.addCons(fit >= pyscipopt.quicksum(r * r for r in rest) * (0.5 if loss == "squared_error" else 1.0) / n)
    model.addCons(size >= pyscipopt.quicksum(each * each for each in b))
    chosen = [j for j in range(p) if j not in free]
    spent = pyscipopt.quicksum(float(cost[j]) * z[j] for j in chosen)
    if settings["k"] is not None:
        model.addCons(pyscipopt.quicksum(z[j] for j in chosen) <= settings["k"])
    else:
        model.addCons(spent <= settings["budget"])
    for rule in settings["rules"]:
        total = pyscipopt.quicksum(z[j] for j in rule.features) + 0.0
        if rule.kind in ("at_most", "exactly"):
            model.addCons(total + 0.0 * fit <= rule.count)
        if rule.kind in ("at_least", "exactly"):
            model.addCons(total + 0.0 * fit >= rule.count)
        if rule.kind == "requires" and rule.how == "any":
            model.addCons(z[rule.feature] + 0.0 * fit <= total)
        if rule.kind == "requires" and rule.how == "all":
            for j in rule.features:
                model.addCons(z[rule.feature] + 0.0 * fit <= z[j])
        if rule.kind == "together":
            for j in rule.features[1:]:
                model.addCons(z[rule.features[0]] + 0.0 * fit == z[j])
    model.setObjective(fit + 0.02 * size + settings.get("lambda_0", 0.0) * spent, "minimize")
    model.optimize()
    return model.getObjVal(), model.getDualbound()


def against_scip(quick: bool) -> Section:
    """Return how many larger problems agree with SCIP."""
    import pyscipopt

    n, p, count = 40, 16 if quick else 20, 6 if quick else SCIP_PROBLEMS
    section, found, kinds = Section("Against SCIP"), Counter[tuple[str, str]](), Counter[str]()
    seconds, slow = [0.0, 0.0], 0
    for seed in range(SEED, SEED + count):
        X, y, settings = random_problem(seed, n, p)
        start = time.perf_counter()
        ours = ez.solve(X, y, **settings, gap=1e-6, progress=False)
        middle = time.perf_counter()
        objective, bound = solve_by_scip(X, y, settings)
        seconds[0] += middle - start
        seconds[1] += time.perf_counter() - middle
        room = ACCURATE * max(abs(objective), 1e-6)
        closed = objective - bound <= room
        slow += not closed
        agree = ours.lower_bound <= objective + room and bound <= ours.objective + room
        agree &= ours.objective <= objective + room and ours.status == "optimal"
        agree &= ez.verify(ours.certificate, X, y, rules=settings["rules"]).valid
        kinds.update(rule.kind for rule in settings["rules"])
        found[settings["loss"], "agree" if agree else "differ"] += 1
        print(seed, settings["loss"], ours.objective, objective, bound, agree, flush=True)
        if not agree:
            section.checks.append(f"seed {seed}: {ours.objective} and {objective}, bounds {ours.lower_bound} and {bound}")
    rows = [[loss, str(found[loss, "agree"]), str(found[loss, "differ"])] for loss in sorted({loss for loss, _ in found})]
    text = SCIP_TEXT.format(
        count=count, n=n, p=p, seed=SEED, version=pyscipopt.Model().version(), seconds=SCIP_SECONDS, accurate=ACCURATE
    )
    totals = f"In all, `ez.solve` took {seconds[0]:.0f} s and SCIP {seconds[1]:.0f} s; SCIP left {slow} open."
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    section.text = f"{text}\n\n{table(['loss', 'agree', 'differ'], rows)}\n\n{totals} Rules: {listed}."
    return section


def interactions(quick: bool) -> Section:
    """Return search and proof with and without strong heredity."""
    section = Section("Products of columns, with strong heredity")
    p, seconds = (20, 5.0) if quick else (100, 60.0)
    rows = []
    for n in (200,) if quick else (500, 20_000):
        for loss in ("squared_error", "logistic"):
            rng = np.random.default_rng(0)
            X = rng.standard_normal((n, p))
            eta = X[:, 0] + X[:, 1] + X[:, 2] + X[:, 0] * X[:, 1] + X[:, 1] * X[:, 2]
            noisy = eta + eta.std() / np.sqrt(5.0) * rng.standard_normal(n)
            y = noisy if loss == "squared_error" else np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-eta)), 1.0, -1.0)
            made = ez.interactions(X)
            truth = [0, 1, 2, made.names.index("x0:x1"), made.names.index("x1:x2")]
            settings: dict[str, Any] = {"loss": loss, "lambda_2": 1.0 / n, "standardize": True, "n_jobs": 1}
            for name, rules in (("free", None), ("strong", made.rules)):
                start = time.perf_counter()
                sizes = ez.fit_sizes(made.X, y, [5], rules=rules, **settings)
                searched = time.perf_counter() - start
                solution = ez.solve(made.X, y, k=5, rules=rules, time_limit=seconds, progress=False, **settings)
                if sizes[5].objective > solution.objective * (1.0 + ACCURATE):
                    section.checks.append(f"{loss}, n = {n}, {name}: the search for sizes is worse than that of the proof")
                if solution.gap < 1.0 and n < 1000 and not ez.verify(solution.certificate, made.X, y, rules=rules or []).valid:
                    section.checks.append(f"{loss}, n = {n}, {name}: the certificate is not valid")
                found = "yes" if sorted(solution.support.tolist()) == truth else "no"
                gap = "0" if solution.status == "optimal" else f"{100.0 * solution.gap:.3g} %"
                cells = [f"{n:,}", loss.replace("_", " "), name, three_digits(searched), found]
                rows.append([*cells, three_digits(solution.seconds), gap, f"{solution.nodes:,}"])
                print(" | ".join(rows[-1]), flush=True)
    header = ["n", "loss", "rules", "search, seconds", "found", "proof, seconds", "gap", "nodes"]
    text = INTERACTIONS_TEXT.format(p=p, products=p * (p - 1) // 2, seconds=seconds)
    section.text = f"{text}\n\n{table(header, rows)}\n\n{PUBLISHED}"
    return section


def main() -> None:
    """Run the chosen sections and write the report."""
    arguments = arguments_of(__doc__).parse_args()
    quick = bool(arguments.quick)
    sections = {
        "enumeration": lambda: enumeration(quick),
        "scip": lambda: against_scip(quick),
        "interactions": lambda: interactions(quick),
    }
    Report("rules", arguments).write(INTRODUCTION, sections)


if __name__ == "__main__":
    main()
