"""Branch and bound in the core, by itself or as Algorithm 4 of the paper (IGA): with branching on a set of features that grows.

Algorithm 4 solves relaxations in which z is integral only for a set of features. Here they are one tree: a node where these z
are integral waits, and when nothing better is left the relaxation is solved; the set grows by what the best such node uses a
fraction of, and the tree goes on. So nothing is done twice, and the tree is a proof like any other.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from ellzero import _core
from ellzero.exact.certificate import fingerprint_design
from ellzero.exact.checkpoint import Checkpoint
from ellzero.exact.setting import (
    SearchOptions,
    Setting,
    as_solution,
    find_incumbent,
    null_model,
    prepare,
    with_bound,
)
from ellzero.exact.solution import ExactSolution, relative_gap
from ellzero.exact.verifier import fingerprint_vector
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

__all__ = ["branch_and_bound", "growth"]

# Local search costs as much as some nodes: problems that end before need none.
NODES_BEFORE_LOCAL_SEARCH = 32
LONG_SEARCH = 0.1  # seconds, after which a search over swaps ends with the first better model


class Improved(Exception):
    """A long search over swaps found a better model: what is best around that one is another search."""


def branch_and_bound(
    problem: Problem,
    options: SearchOptions,
    starts: Iterable[Model] = (),
    neighbour: _core.Search | None = None,
    heuristic: bool = True,
) -> tuple[ExactSolution, _core.Search]:
    """The solution, and the search that found it (a later one on a neighbouring problem can start from it).

    `starts` are models to begin with; without `heuristic` nothing else is looked for.
    """
    checkpoint = None if options.checkpoint is None else Checkpoint(options.checkpoint, signature(problem, options))
    saved = None if checkpoint is None else checkpoint.load()
    if saved is None:
        # IGA begins with the support of local search; plain branch and bound may not need it.
        first = "local_search" if options.method == "iga" else "cd"
        setting = prepare(problem, options, starts, first if heuristic else None)
        integral = np.sort(problem.paying(setting.incumbent.support)).tolist() if options.method == "iga" else None
        kept: dict[str, Any] = {
            "bound": setting.bound,
            "free_bound": setting.free_bound,
            "searched": not heuristic or options.method == "iga",
            "integral": integral,
            "iteration": int(options.method == "iga"),
        }
    else:
        kept = saved[0]
        setting = prepare(problem, options, [null_model(problem, options.lambda_0)], None)
        setting.bound, setting.free_bound = kept["bound"], kept["free_bound"]
        setting.boxed = with_bound(problem, setting.bound)
    search = setting.search(kept["integral"])
    if saved is not None:
        search.restore(saved[1])
    elif neighbour is not None:
        search.start_from(neighbour)
    status = setting.ended or run(setting, search, checkpoint, kept)
    solution = setting.finish(
        setting.model(search.incumbent()), search.lower_bound, status, tree=search.tree(), nodes=search.nodes
    )
    return solution, search


def run(setting: Setting, search: _core.Search, checkpoint: Checkpoint | None, kept: dict[str, Any]) -> str:
    """Search until the end or a limit; an interrupt ends it like a limit."""
    options, boxed = setting.options, setting.boxed

    def note() -> None:
        size = len(kept["integral"] or ())
        setting.note(search.objective, search.lower_bound, search.nodes, search.open, kept["iteration"], size)

    def report() -> None:
        note()
        better = search.objective < setting.incumbent.objective * (1.0 - options.gap)
        if options.swaps is not None and better and time.monotonic() - setting.begin > LONG_SEARCH:
            raise Improved
        if checkpoint is not None:
            checkpoint.write_if_due(search, kept)

    def go_on(node_limit: int) -> str:
        status = search.run(seconds=setting.left(), node_limit=node_limit, report=report)
        while status == "relaxed":
            note()
            if relative_gap(search.objective, search.lower_bound) <= options.gap:
                return "finished"
            grow(search, kept, options.grow)
            status = search.run(seconds=setting.left(), node_limit=node_limit, report=report)
        return status

    try:
        status = "node_limit"
        if not kept["searched"]:
            status = go_on(min(NODES_BEFORE_LOCAL_SEARCH, options.node_limit))
            if status == "node_limit" and options.node_limit > NODES_BEFORE_LOCAL_SEARCH:
                start = setting.model(search.incumbent())
                found, ended = find_incumbent(boxed, options, [start], "local_search", setting.begin)
                search.suggest(as_solution(boxed, found))
                kept["searched"], status = not ended, ended or status
        if kept["searched"]:
            status = go_on(options.node_limit)
    except KeyboardInterrupt:
        status = "interrupted"
    except Improved:
        status = "improved"
    note()
    if checkpoint is not None:
        if status == "finished":
            checkpoint.remove()
        else:
            checkpoint.write(search, kept)
    return status


def grow(search: _core.Search, kept: dict[str, Any], rule: float) -> None:
    """One more iteration of Algorithm 4: the set grows by features that the relaxation uses a fraction of."""
    columns, shares = search.undecided_shares()
    new = growth(columns, shares, kept["integral"], rule)
    kept["iteration"] += 1
    if new:
        kept["integral"] = sorted({*kept["integral"], *new})
        search.branch_also_on(new)
    else:  # integral but for rounding errors: whatever is left is decided by plain branch and bound
        kept["integral"] = None
        search.branch_on_all()


def growth(columns: Any, shares: Any, integral: Iterable[int], rule: float) -> list[int]:
    """The features outside the set with the largest z: `rule` of them, or those of at least that share (at least one)."""
    outside = ~np.isin(columns, list(integral)) & (shares > 0.0)
    order = np.argsort(-shares[outside], kind="stable")
    columns, shares = columns[outside][order], shares[outside][order]
    count = int(rule) if rule >= 1.0 else max(int(np.count_nonzero(shares >= rule)), 1)
    return [int(j) for j in columns[:count]]


def signature(problem: Problem, options: SearchOptions) -> dict[str, Any]:
    """What a checkpoint must agree in with the call that continues it."""
    penalty = problem.penalty
    sides = {"lower": penalty.lower, "upper": penalty.upper, "unpenalized": penalty.unpenalized, "spread": problem.spread}
    return {
        "lambda_0": options.lambda_0,
        "k": options.k,
        "swap_size": None if options.swaps is None else options.swaps.size,
        "home": None if options.swaps is None else options.swaps.home.tolist(),
        "method": options.method,
        "bound": options.bound,
        "gap": options.gap,
        "loss": problem.loss.name,
        "lambda_1": penalty.lambda_1,
        "lambda_2": penalty.lambda_2,
        "fit_intercept": problem.fit_intercept,
        "X": fingerprint_design(problem)[1],
        "y": fingerprint_vector(problem.y),
        "w": fingerprint_vector(problem.w),
        **{name: None if side is None else fingerprint_vector(side.astype(np.float64)) for name, side in sides.items()},
    }
