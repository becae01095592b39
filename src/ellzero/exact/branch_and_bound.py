"""Branch and bound in the core, alone or as integrality generation (IGA), the paper's Algorithm 4.

Algorithm 4 solves a sequence of relaxations. In each, z is integral only for a set of features, and the set grows from one to
the next. Here all of them share one tree. A node waits when z is integral on the set. The relaxation is solved when no open
node has a better bound than the best waiting one. The set then grows by features of which that node uses a fraction, and the
search goes on. So no work is done twice, and the tree is a proof like any other.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from ellzero import _core
from ellzero.base.reading import Malformed
from ellzero.exact.assumed_bounds import assumed_bound, assumed_free_bound, check_bounded
from ellzero.exact.certificate import fingerprint_design, tree_arrays
from ellzero.exact.checkpoint import Checkpoint
from ellzero.exact.growth import Growth
from ellzero.exact.incumbent import as_solution, find_incumbent, null_model
from ellzero.exact.options import SearchOptions
from ellzero.exact.resuming import resumed
from ellzero.exact.run import Run, begin_run
from ellzero.exact.solution import ExactSolution
from ellzero.exact.status import Status
from ellzero.exact.verifier import fingerprint_vector
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

__all__ = ["branch_and_bound", "growth", "search_tree"]

# Local search costs as much as some nodes. Searches that end before this many nodes do without it.
NODES_BEFORE_LOCAL_SEARCH = 32
ENDED: dict[_core.SearchStatus, Status | None] = {
    _core.SearchStatus.finished: None,
    _core.SearchStatus.time_limit: "time_limit",
    _core.SearchStatus.node_limit: "node_limit",
    _core.SearchStatus.improved: "improved",
    _core.SearchStatus.too_many: "too_many",
}


@dataclass
class Memory:
    """The state that a search keeps in addition to its tree; a checkpoint saves it."""

    bound: float | None  # assumed of the features that pay lambda_0
    free_bound: float | None  # assumed of free features
    searched: bool  # whether local search is done, or not wanted
    integral: list[int] | None  # the features that may be branched on; None: all
    iteration: int  # of Algorithm 4, from 1; 0 for plain branch and bound


def branch_and_bound(
    problem: Problem,
    options: SearchOptions,
    starts: Iterable[Model] = (),
    neighbour: _core.Search | None = None,
    heuristic: bool = True,
) -> tuple[ExactSolution, _core.Search]:
    """Return the solution, and the search that found it (a later one on a neighbouring problem can start from it)."""
    run, search, status = search_tree(problem, options, starts, neighbour, heuristic)
    found = run.model(search.incumbent())
    tree = tree_arrays(search.tree(), problem.outputs)
    return run.finish(found, run.bounds(search)[1], status, tree=tree, nodes=search.nodes), search


def search_tree(
    problem: Problem,
    options: SearchOptions,
    starts: Iterable[Model] = (),
    neighbour: _core.Search | None = None,
    heuristic: bool = True,
) -> tuple[Run, _core.Search, Status | None]:
    """Return a run and its search, as far as it came, and the limit that ended it, None if nothing is left to search.

    `starts` are models to begin with; without `heuristic`, no other model is looked for before the search. A search on a
    neighbouring problem may lend the start of its root's relaxation.
    """
    checkpoint = None
    if options.checkpoint is not None:
        n, p = problem.design.shape
        shape = n * problem.outputs, p * problem.outputs
        checkpoint = Checkpoint(options.checkpoint, signature(problem, options), shape)
    saved = None if checkpoint is None else checkpoint.load()
    if checkpoint is None or saved is None:
        run, memory = begin(problem, options, starts, heuristic)
        search = run.search(memory.integral)
        if neighbour is not None:
            search.start_from(neighbour)
    else:
        begun, growth, (kept, snapshot) = time.monotonic(), check_bounded(problem, options), saved
        with checkpoint.explained():
            memory = checked_memory(kept, problem, options, growth)
            start = null_model(problem, options.lambda_0)
            run = Run(problem, options, start, memory.bound, memory.free_bound, growth, begun)
            search = run.search(memory.integral)
            search.restore(resumed(run, snapshot, waiting=memory.integral is not None))
    return run, search, run.ended or TreeSearch(run, search, memory, checkpoint).to_the_end()


def checked_memory(kept: dict[str, Any], problem: Problem, options: SearchOptions, growth: Growth | None) -> Memory:
    """Return what a checkpoint keeps beside the tree, if it can be that of a search with these options."""
    if kept.keys() != {field.name for field in fields(Memory)}:
        raise Malformed("its memory has other entries")
    memory, start = Memory(**kept), null_model(problem, options.lambda_0)
    bound, free_bound = assumed_bound(problem, options, start), assumed_free_bound(problem, options, start, growth)
    # Bounds that the first solution gave can be other than those of the null model, but not where none, or one, was asked for.
    if isinstance(options.bound, str) and is_positive(memory.bound):
        bound = memory.bound
    if free_bound is not None and is_positive(memory.free_bound):
        free_bound = max(free_bound, memory.free_bound or 0.0)
    if (memory.bound, memory.free_bound) != (bound, free_bound):
        raise Malformed("its assumed bounds are not those of this search")
    iga, every = options.method == "iga", np.arange(problem.design.shape[1], dtype=np.int32)
    paying = set(problem.paying(every).tolist())
    listed = memory.integral if isinstance(memory.integral, list) else []
    good = memory.integral is None or (isinstance(memory.integral, list) and iga)
    if not good or not all(type(j) is int and j in paying for j in listed) or sorted(set(listed)) != listed:
        raise Malformed("its set of features is none of this search")
    if type(memory.iteration) is not int or memory.iteration < int(iga) or (memory.iteration > 0) != iga:
        raise Malformed("its iteration is none of this search")
    if type(memory.searched) is not bool:
        raise Malformed("it does not say what was searched")
    return memory


def is_positive(value: Any) -> bool:
    """Return whether a value of a file is a positive number."""
    return type(value) in (int, float) and value > 0


def begin(problem: Problem, options: SearchOptions, starts: Iterable[Model], heuristic: bool) -> tuple[Run, Memory]:
    """Find a first solution; return the run that starts from it, and the state to keep with its tree."""
    iga = options.method == "iga"
    # IGA begins with the support of local search; plain branch and bound may not need it.
    first = "local_search" if iga else "cd"
    run = begin_run(problem, options, starts, first if heuristic else None)
    integral = np.sort(problem.paying(run.incumbent.support)).tolist() if iga else None
    return run, Memory(run.bound, run.free_bound, not heuristic or iga, integral, int(iga))


@dataclass
class TreeSearch:
    """A search in the core, and what Python adds to it: local search after some nodes, IGA's growing set, checkpoints."""

    run: Run
    search: _core.Search
    memory: Memory
    checkpoint: Checkpoint | None

    def to_the_end(self) -> Status | None:
        """Search until nothing is left (None is returned) or a limit is met; Ctrl-C ends the search like a limit."""
        status: Status | None
        try:
            status = self.stages()
        except KeyboardInterrupt:
            status = "interrupted"
        self.note()
        if self.checkpoint is not None:
            if status is None:
                self.checkpoint.remove()
            else:
                self.checkpoint.write(self.search, asdict(self.memory))
        return status

    def stages(self) -> Status | None:
        """Solve a few nodes, run local search if they were not enough, and then solve the other nodes."""
        limit = self.run.options.node_limit
        if not self.memory.searched:
            status = self.go_on(min(NODES_BEFORE_LOCAL_SEARCH, limit))
            if status != "node_limit" or limit <= NODES_BEFORE_LOCAL_SEARCH:
                return status
            if stopped := self.improve_incumbent():
                return stopped
        return self.go_on(limit)

    def go_on(self, node_limit: int) -> Status | None:
        """Work on the tree until it ends or meets a limit; grow IGA's set whenever only waiting nodes are left."""
        options, search = self.run.options, self.search
        while True:
            status = search.run(
                seconds=self.run.left(),
                node_limit=node_limit,
                enough=options.enough / self.run.problem.units.cost,
                in_turn=options.in_turn,
                report=self.report,
            )
            if status != _core.SearchStatus.relaxed:
                return ENDED[status]
            self.note()
            if self.run.gap(*self.run.bounds(search)) <= options.gap:
                return None
            self.grow(options.grow)

    def improve_incumbent(self) -> Status | None:
        """Run local search from the incumbent; return the status if it was stopped early, otherwise None."""
        run = self.run
        start = run.model(self.search.incumbent())
        found = find_incumbent(run.boxed, run.options, [start], "local_search", run.begin)
        self.search.suggest(as_solution(run.boxed, found.model))
        self.memory.searched = found.ended is None
        return found.ended

    def grow(self, rule: float) -> None:
        """Begin the next iteration of Algorithm 4: add features to the set of which the relaxation uses a fraction."""
        assert self.memory.integral is not None
        columns, shares = self.search.undecided_shares()
        outputs = self.run.problem.outputs
        new = growth(columns // outputs, shares, self.memory.integral, rule)
        self.memory.iteration += 1
        if new:
            self.memory.integral = sorted({*self.memory.integral, *new})
            self.search.branch_also_on([j * outputs for j in new])
        else:  # integral but for rounding errors: plain branch and bound decides what is left
            self.memory.integral = None
            self.search.branch_on_all()

    def note(self) -> None:
        """Report the state of the search."""
        search, memory = self.search, self.memory
        size = len(memory.integral or ())
        if memory.iteration and memory.integral is None:  # all of them
            size = len(self.run.problem.paying(np.arange(self.run.problem.design.shape[1], dtype=np.int32)))
        level, models = (None, None) if self.run.options.wanted is None else (search.level, search.models)
        self.run.note(*self.run.bounds(search), search.nodes, search.open, memory.iteration, size, level, models)

    def report(self) -> None:
        """Report the state of the search; the core calls this about ten times a second, and an exception stops it."""
        self.note()
        if self.checkpoint is not None:
            self.checkpoint.write_if_due(self.search, asdict(self.memory))


def growth(columns: Any, shares: Any, integral: Iterable[int], rule: float) -> list[int]:
    """Return the features outside the set with the largest z: `rule` of them or, if it is below one, those with z >= `rule`.

    At least one feature is returned if any outside the set has z > 0.
    """
    outside = ~np.isin(columns, list(integral)) & (shares > 0.0)
    order = np.argsort(-shares[outside], kind="stable")
    columns, shares = columns[outside][order], shares[outside][order]
    count = int(rule) if rule >= 1.0 else max(int(np.count_nonzero(shares >= rule)), 1)
    return [int(j) for j in columns[:count]]


def signature(problem: Problem, options: SearchOptions) -> dict[str, Any]:
    """Return all that must agree between a checkpoint and the call that continues it."""
    penalty = problem.penalty
    vectors = {name: getattr(penalty, name) for name in ("lower", "upper", "price", "heads")}
    vectors |= {"spread": problem.spread, "w": problem.w, "y": problem.y.ravel(order="F")}
    return {
        "budget": options.budget,
        "lambda_0": options.lambda_0,
        "k": options.k,
        "swap_size": None if options.swaps is None else options.swaps.size,
        "home": None if options.swaps is None else options.swaps.home.tolist(),
        "wanted": None if options.wanted is None else asdict(options.wanted),
        "method": options.method,
        "bound": options.bound,
        "gap": options.gap,
        **problem.loss.settings,
        "units": [problem.units.column, problem.units.centre.tolist(), problem.units.response],
        "lambda_1": penalty.lambda_1,
        "lambda_2": penalty.lambda_2,
        "fit_intercept": problem.fit_intercept,
        "X": fingerprint_design(problem)[1],
        **{name: fingerprint_vector(vector.astype(np.float64)) for name, vector in vectors.items()},
    }
