"""One exact search: from its options and its problem to its proof.

Algorithm 4 of the paper, integrality generation (IGA), solves a sequence of relaxations. In each, z is integral only for a set
of features, and the set grows from one to the next. Here all of them share one tree of branch and bound. A node waits when z is
integral on the set. The relaxation is solved when no open node has a better bound than the best waiting one. The set then grows
by features of which that node uses a fraction, and the search goes on. So no work is done twice, and the tree is a proof like
any other.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.base.signatures import arguments_of
from ellzero.exact.assumed_bounds import assumed_bounds, centre_is_small, check_bounded, squares_are_numbers, with_bounds
from ellzero.exact.certificate import Certificate, Claim, tree_arrays
from ellzero.exact.checkpoint import Checkpoint
from ellzero.exact.growth import Growth, worth_narrowing
from ellzero.exact.incumbent import TOLERANCE, as_solution, as_start, find_incumbent
from ellzero.exact.options import SearchOptions, Wanted, affordable, search_options
from ellzero.exact.resuming import resume
from ellzero.exact.search_log import SearchProgress
from ellzero.exact.solution import ExactSolution, relative_gap, size_of
from ellzero.exact.status import Status
from ellzero.exact.verifier import verify
from ellzero.problem.coefficients import Coefficients
from ellzero.problem.making import make_problem
from ellzero.problem.model import Model, evaluate
from ellzero.problem.problem import Problem
from ellzero.problem.sizes import has_ordinary_sizes
from ellzero.solvers.fields import core_object
from ellzero.solvers.paths import core_problem

SMALL = 1e-4  # an objective below this part of the null model's loss: rounding counts in gaps relative to it
# Local search costs as much as some nodes. Searches that end before this many nodes do without it.
NODES_BEFORE_LOCAL_SEARCH = 32
ENDED: dict[_core.SearchStatus, Status | None] = {
    _core.SearchStatus.finished: None,
    _core.SearchStatus.time_limit: "time_limit",
    _core.SearchStatus.node_limit: "node_limit",
    _core.SearchStatus.improved: "improved",
    _core.SearchStatus.too_many: "too_many",
}


def asked_for(
    X: object, y: ArrayLike, warm_start: Model | ArrayLike | None, asked: Mapping[str, Any]
) -> tuple[Problem, SearchOptions, list[Model]]:
    """Check the arguments of a public function; return its problem, its options and the models to start from."""
    if all(asked[name] is None for name in ("lambda_0", "k", "budget")):
        raise InvalidInputError("lambda_0, k or budget must be given.")
    options = search_options(**arguments_of(search_options, asked))
    problem = make_problem(X, y, **arguments_of(make_problem, asked))
    return problem, options, [] if warm_start is None else [as_start(problem, warm_start, options.lambda_0)]


def search_for(problem: Problem, options: SearchOptions, starts: Iterable[Model] = (), heuristic: bool = True) -> Search:
    """Return the search of the method that the options name, which has not begun yet."""
    if options.backend == "builtin":
        return Search(problem, options, starts, heuristic)
    if problem.outputs > 1:
        raise InvalidInputError(
            f"backend={options.backend!r} solves problems of one output; use backend='builtin' for several."
        )
    # MIP solvers are optional: this code is loaded only when one is used.
    with whole_imports():
        from ellzero.exact.mip.direct import DirectSearch
        from ellzero.exact.mip.generation import GenerationSearch

    return (DirectSearch if options.method == "mip" else GenerationSearch)(problem, options, starts, heuristic)


class Search:
    """A search by branch and bound; that of a MIP solver explores in another way (`mip/`), and shares the rest.

    `solve` and `explore` are the stages. What they call follows in the same order.
    """

    def __init__(
        self,
        problem: Problem,
        options: SearchOptions,
        starts: Iterable[Model] = (),
        heuristic: bool = True,
        neighbour: Search | None = None,
    ) -> None:
        """Prepare a search from some models; without `heuristic`, it looks for no other model before its tree.

        A finished search on a neighbouring problem may lend the start of its root's relaxation.
        """
        self.begun = time.monotonic()
        self.problem, self.options, self.starts = problem, affordable(problem, options), list(starts)
        self.heuristic, self.neighbour = heuristic, neighbour
        self.history: list[SearchProgress] = []
        self.ended: Status | None = None  # set if a limit or Ctrl-C ends the search before its tree
        self.growth: Growth | None = None  # of the loss, where the proof rests on it
        # What a checkpoint keeps beside the tree:
        self.bound: float | None = None  # assumed of the features that pay lambda_0
        self.free_bound: float | None = None  # assumed of free features
        self.searched = not heuristic or options.method == "iga"  # whether local search is done, or not wanted
        self.integral: list[int] | None = None  # the features that may be branched on; None: all
        self.iteration = 0  # of Algorithm 4, from 1; 0 for plain branch and bound

    def solve(self) -> ExactSolution:
        """Return the best model that the search finds, with the proof of how good it is."""
        status = self.explore()
        return self.finish(self.model(self.tree.incumbent()), self.bounds()[1], status, nodes=self.tree.nodes)

    def explore(self) -> Status | None:
        """Search until nothing is left (None is returned) or something ends it; Ctrl-C does so like a limit."""
        self.checkpoint = Checkpoint(self)
        self.growth = check_bounded(self.problem, self.options)
        if self.checkpoint.exists:
            resume(self)
        else:
            self.find_first_model()
            if self.options.method == "iga":
                self.integral, self.iteration = np.sort(self.problem.penalty.paying(self.incumbent.support)).tolist(), 1
            self.open_tree()
        if self.ended:
            return self.ended
        status: Status | None
        try:
            status = self.search_tree()
        except KeyboardInterrupt:
            status = "interrupted"
        self.note()
        self.checkpoint.end(self.save, done=status is None)
        return status

    # The first model, and the bounds of the coefficients.

    def find_first_model(self) -> None:
        """Find a model to start from, and the bounds that are assumed with it."""
        # Plain branch and bound may not need local search; IGA begins with the support that it finds.
        first = "cd" if self.options.method == "bnb" else "local_search"
        boxes = self.known_boxes()
        found = find_incumbent(boxes, self.options, self.starts, first if self.heuristic else None, self.begun)
        self.incumbent, self.ended = found.model, found.ended
        self.assume(*assumed_bounds(self.problem, self.options, found.model, self.growth))

    def known_boxes(self) -> Problem:
        """Return the problem with the bounds that are known before there is a model: those that are assumed as a number."""
        return with_bounds(self.problem, self.options.bound if isinstance(self.options.bound, float) else None)

    def assume(self, bound: float | None, free_bound: float | None) -> None:
        """Limit the coefficients by bounds that are assumed, and by those that the growth of the loss proves."""
        self.bound, self.free_bound = bound, free_bound
        self.boxed = with_bounds(self.problem, bound, free_bound, self.growth)

    # The tree.

    def open_tree(self) -> None:
        """Open a tree that starts from the incumbent."""
        self.tree = _core.Search(self.core_problem(), self.core_options(), as_solution(self.boxed, self.incumbent))
        if self.neighbour is not None:
            self.tree.start_from(self.neighbour.tree)

    def core_problem(self) -> _core.Problem:
        """Return the problem with all bounds, in the core's form."""
        return core_problem(self.boxed, TOLERANCE)

    def core_options(self) -> _core.SearchOptions:
        """Return the options in the core's form."""
        options, problem, home = self.options, self.problem, self.options.home
        if not np.isfinite(options.lambda_0 / problem.units.lambda_0):
            raise InvalidInputError(f"lambda_0 is beyond float64 in units of the data, got {options.lambda_0!r}.")
        return core_object(
            _core.SearchOptions,
            lambda_0=options.lambda_0 / problem.units.lambda_0,
            budget=None if options.budget is None else options.budget / problem.units.price,
            k=problem.design.shape[1] if options.k is None else options.k,
            gap=options.gap,
            narrow=self.growth is not None and worth_narrowing(problem),
            null=problem.null / problem.units.cost,
            free_bound=None if self.free_bound is None else self.free_bound / problem.units.coefficient,
            home=None if home is None else (home * problem.outputs).tolist(),
            swap_size=options.swap_size,
            wanted=self.core_wanted(),
            integral=None if self.integral is None else [j * problem.outputs for j in self.integral],
            alike=options.alike,
            diagonals=options.diagonals and squares_are_numbers(problem),
            families=options.diagonals
            and options.checkpoint is None
            and not problem.rules  # enumerated supports need not obey
            and squares_are_numbers(problem)
            and centre_is_small(problem),
            threads=options.threads,
        )

    def core_wanted(self) -> _core.Wanted:
        """Return which models are wanted in the core's form."""
        wanted = self.options.wanted
        level = None if wanted.level is None else wanted.level / self.problem.units.cost
        return core_object(_core.Wanted, **{**vars(wanted), "level": level})

    def relaxations(self, objective: float, excluded: list[int]) -> _core.Relaxations:
        """Return the relaxations of this problem for models better than an objective, without some features."""
        cost = self.problem.units.cost
        return _core.Relaxations(self.core_problem(), self.core_options(), objective=objective / cost, excluded=excluded)

    def search_tree(self) -> Status | None:
        """Solve a few nodes, run local search if they were not enough, and then solve the other nodes."""
        limit = self.options.node_limit
        if not self.searched:
            status = self.solve_nodes(min(NODES_BEFORE_LOCAL_SEARCH, limit))
            if status != "node_limit" or limit <= NODES_BEFORE_LOCAL_SEARCH:
                return status
            if stopped := self.improve_incumbent():
                return stopped
        return self.solve_nodes(limit)

    def solve_nodes(self, node_limit: int) -> Status | None:
        """Work on the tree until it ends or meets a limit; grow IGA's set whenever only waiting nodes are left."""
        while True:
            status = self.tree.run(
                seconds=self.left(),
                node_limit=node_limit,
                enough=self.options.enough / self.problem.units.cost,
                in_turn=self.options.in_turn,
                report=self.tick,
            )
            if status != _core.SearchStatus.relaxed:
                return ENDED[status]
            self.note()
            if self.gap(*self.bounds()) <= self.options.gap:
                return None
            self.grow()

    def improve_incumbent(self) -> Status | None:
        """Run local search from the incumbent; return the status if it was stopped early, otherwise None."""
        start = self.model(self.tree.incumbent())
        found = find_incumbent(self.boxed, self.options, [start], "local_search", self.begun)
        self.tree.suggest(as_solution(self.boxed, found.model))
        self.searched = found.ended is None
        return found.ended

    def grow(self) -> None:
        """Begin the next iteration of Algorithm 4: add features to the set of which the relaxation uses a fraction."""
        assert self.integral is not None
        columns, shares = self.tree.undecided_shares()
        outputs = self.problem.outputs
        new = next_features(columns // outputs, shares, self.integral, self.options.grow)
        self.iteration += 1
        if new:
            self.integral = sorted({*self.integral, *new})
            self.tree.branch_also_on([j * outputs for j in new])
        else:  # integral but for rounding errors: plain branch and bound decides what is left
            self.integral = None
            self.tree.branch_on_all()

    # What the tree says, in the user's units.

    def left(self) -> float:
        """Return the seconds until the time limit."""
        return max(self.options.time_limit - self.seconds(), 0.0)

    def seconds(self) -> float:
        """Return the seconds since the search began."""
        return time.monotonic() - self.begun

    def model(self, found: _core.Model) -> Model:
        """Return a core model on the scale of X, moved inside the bounds and evaluated from the raw data."""
        support, values, intercept = self.boxed.units.coefficients(found)
        at = Coefficients(support, self.boxed.penalty.clip(support, values), intercept)
        return evaluate(self.boxed, at, self.options.lambda_0)

    def bounds(self) -> tuple[float, float]:
        """Return the objective of the tree's incumbent and its lower bound."""
        cost = self.problem.units.cost
        return self.tree.objective * cost, self.tree.lower_bound * cost

    def gap(self, objective: float, lower_bound: float) -> float:
        """Return the relative gap."""
        return relative_gap(objective, lower_bound, self.problem.null)

    def tick(self) -> None:
        """Report the state of the search; the core calls this about ten times a second, and an exception stops it."""
        self.note()
        self.checkpoint.write_if_due(self.save)

    def save(self, path: Path) -> None:
        """Write the search to a file, from which another one can go on."""
        self.checkpoint.write(path, self)

    def note(self) -> None:
        """Report the state of the search.

        The gap is what is missing to the objective or, where all models up to a level are wanted, to that.
        """
        tree, every = self.tree, self.options.wanted.all
        size = len(self.integral or ())
        if self.iteration and self.integral is None:  # all of them
            size = self.problem.penalty.countable()
        objective, lower_bound = self.bounds()
        gap = self.gap(tree.level * self.problem.units.cost if every else objective, lower_bound)
        state = (tree.nodes, tree.open, self.seconds(), self.iteration, size, tree.models if every else None)
        self.report(SearchProgress(objective, lower_bound, gap, *state))

    def report(self, now: SearchProgress) -> None:
        """Tell the caller the state of the search, and add it to the history if something changed."""
        here = (now.objective, now.lower_bound, now.iteration)
        if not now.open or here not in [(row.objective, row.lower_bound, row.iteration) for row in self.history[-1:]]:
            self.history.append(now)
        if self.options.progress is not None:
            self.options.progress(now)

    # The proof.

    def finish(
        self,
        model: Model,
        lower_bound: float,
        status: Status | None,
        *,
        nodes: int,
        prover: str | None = None,
        message: str = "",
    ) -> ExactSolution:
        """Return a model with its proof; `status` is None if nothing is left to search."""
        if not np.isfinite(model.objective):
            raise InvalidInputError(
                "the objective is beyond float64 at the best model found; change the units of X, or move lower and upper."
            )
        # No loss or penalty is negative, so zero is a lower bound even before the first node.
        lower_bound = min(max(lower_bound, 0.0), model.objective)
        if self.gap(model.objective, lower_bound) <= self.options.gap:
            status = "optimal"
        tree = tree_arrays(self.tree.tree(), self.problem)
        certificate = self.certificate(model, lower_bound, status or "precision", tree, prover)
        if prover is None:
            certificate = self.claiming_what_is_proved(certificate)
        return ExactSolution(certificate, nodes, self.seconds(), self.history, message)

    def certificate(
        self, model: Model, lower_bound: float, status: Status, tree: dict[str, NDArray[Any]], prover: str | None = None
    ) -> Certificate:
        """Return the proof of a lower bound by a tree."""
        options = self.options
        claim = Claim(
            lambda_0=options.lambda_0,
            k=options.k,
            budget=options.budget,
            bound=self.bound,
            free_bound=self.free_bound,
            objective=model.objective,
            lower_bound=lower_bound,
            status=status,
            gap_asked=options.gap,
            swap_size=options.swap_size,
            home=options.home,
            prover=prover,
            threshold=self.threshold(options.wanted, model.objective) if options.wanted.all else None,
            within=options.wanted.within,
        )
        if self.growth is not None:
            tree = {**tree, **self.growth.arrays()}
        # A model chosen by its size alone has no lambda_0.
        by_size = options.limited and options.lambda_0 == 0.0
        return Certificate(self.problem, claim, replace(model, lambda_0=None if by_size else options.lambda_0), tree)

    def threshold(self, wanted: Wanted, objective: float) -> float:
        """Return the level of models that are wanted; `objective` is that of the best one."""
        size = size_of(objective, self.problem.null)
        within = np.inf if wanted.within is None else objective + (wanted.within + _core.Wanted.equal) * size
        return float(min(within, np.inf if wanted.level is None else wanted.level))

    def claiming_what_is_proved(self, certificate: Certificate) -> Certificate:
        """Return a certificate that claims no more than the verifier proves.

        The core bounds its rounding errors as the verifier does, but where sizes are far apart it may use a narrower box that
        the verifier does not find, and a gap relative to a small objective may be as small as these errors. So there the
        verifier has the last word.
        """
        claim, small = certificate.claim, certificate.claim.objective < SMALL * self.problem.null
        if claim.lower_bound <= 0.0 or not (small or not has_ordinary_sizes(self.problem)):
            return certificate
        report = verify(certificate, self.problem.design.stored(), self.problem.labels)
        for start in ("redundant_", "listed_"):  # what is redundant may not be proved to be, nor what is at the leaf of a model
            if claim.threshold is None or report.valid:
                break
            bare = {name: each[:0] if name.startswith(start) else each for name, each in certificate.tree.items()}
            certificate = replace(certificate, tree=bare)
            report = verify(certificate, self.problem.design.stored(), self.problem.labels)
        proved, close = max(report.lower_bound, 0.0), report.gap <= claim.gap_asked
        done = claim.status in ("optimal", "complete")
        if proved >= claim.lower_bound and (close or not done):
            return certificate
        status = "precision" if done and not close else claim.status
        return replace(certificate, claim=replace(claim, lower_bound=min(proved, claim.lower_bound), status=status))


def next_features(columns: Any, shares: Any, integral: Iterable[int], rule: float) -> list[int]:
    """Return the features outside IGA's set with the largest z: `rule` of them or, if it is below one, those with z >= `rule`.

    At least one feature is returned if any outside the set has z > 0.
    """
    outside = ~np.isin(columns, list(integral)) & (shares > 0.0)
    order = np.argsort(-shares[outside], kind="stable")
    columns, shares = columns[outside][order], shares[outside][order]
    count = int(rule) if rule >= 1.0 else max(int(np.count_nonzero(shares >= rule)), 1)
    return [int(j) for j in columns[:count]]
