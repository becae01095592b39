"""Find all models that are nearly as good as the best one, with a proof that none is missing.

It is the search of `solve` with another cutoff: in place of the best objective so far, a threshold above it. A support whose
best model is not above the threshold is a leaf of the tree that stays open, and all other leaves are closed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted
from ellzero.base.signatures import passes_on
from ellzero.base.validation import as_count, as_nonnegative
from ellzero.exact.alternative_models import Alternatives
from ellzero.exact.assumed_bounds import assumed_bounds, highest_level
from ellzero.exact.certificate import listed_models, tree_arrays
from ellzero.exact.incumbent import find_incumbent
from ellzero.exact.options import ExactSettings, SearchOptions, Wanted, affordable, search_options
from ellzero.exact.search import Search, asked_for
from ellzero.exact.solution import size_of
from ellzero.exact.status import Status
from ellzero.problem.making import make_problem
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

if TYPE_CHECKING:
    from typing_extensions import Unpack

MOST_MODELS = 10_000  # that are listed unless more are asked for
COMPLETE = 1e-9  # of the objective: the threshold is reached if nothing is missing below what is so close to it
MORE_SEEDS = 4  # so many times as many supports as are wanted are tried to find a first level


@passes_on(ExactSettings, make_problem, search_options)
def alternatives(
    X: object,
    y: ArrayLike,
    *,
    lambda_0: float | None = None,
    k: int | None = None,
    budget: float | None = None,
    within: float | None = None,
    n_best: int | None = None,
    max_models: int = MOST_MODELS,
    warm_start: Model | ArrayLike | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **settings: Unpack[ExactSettings],
) -> Alternatives:
    """Find every model that is nearly as good as the best one, with a proof that none is missing.

    A model stands for its support: its coefficients are the best ones for these features. All supports are found, of at most
    ``k`` features, within a ``budget`` or at the price ``lambda_0`` of each, whose objective is at most ``1 + within`` times
    the best one. A support to which a feature adds nothing, because its coefficient is zero there, is no other model.

    Parameters
    ----------
    X, y, loss, huber_delta, lambda_1, lambda_2, fit_intercept, standardize, sample_weight, lower, upper, unpenalized,
    feature_cost, groups, feature_names, rules :
        The problem, as in :func:`fit_path`.
    lambda_0, k, budget :
        What each feature pays, the largest number of features, and the largest sum of their costs, as in :func:`solve`. At
        least one must be given.
    within : float
        How much worse than the best objective a model may be, as a share of it: 0.01 unless ``n_best`` is given. Where the best
        objective is less than 1e-9 of the null model's loss, it is a share of that loss. Objectives that differ by less than a
        share of 1e-8 count as equal.
    n_best : int
        In place of ``within``: so many of the best models, and those that are as good as the last of them.
    max_models : int
        The search ends early when it has found more, with the status "too_many"; ``complete_below`` then says up to where
        nothing is missing. Ask for less: a smaller ``within`` or ``k``, a larger ``lambda_0``, or ``n_best``.
    bound, time_limit, node_limit, warm_start, checkpoint, n_jobs, progress :
        As in :func:`solve`. A limit or Ctrl-C ends the search; the models so far are returned, and up to where none is missing.
    method, backend, grow, gap :
        Only branch and bound finds alternatives, and it finds all of them: these must keep their defaults.

    Returns
    -------
    Alternatives

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(100, 30, 3, s=2.0, correlation="exponential", rho=0.9, random_state=1)
    >>> found = ez.alternatives(X, y, k=3, lambda_2=0.01, within=0.04)
    >>> found.complete, [model.support.tolist() for model in found.models]
    (True, [[0, 11, 20], [1, 11, 20], [0, 10, 20]])
    >>> found.indispensable, found.exchangeable
    ([20], [0, 1, 10, 11])
    >>> ez.verify(found.certificate, X, y).valid
    True

    """
    if within is not None and n_best is not None:
        raise InvalidInputError("within and n_best cannot both be given.")
    if settings.get("method", "bnb") != "bnb":
        raise InvalidInputError(f"method must be 'bnb' for alternatives, got {quoted(settings['method'])}.")
    if settings.get("gap") is not None:
        raise InvalidInputError("gap belongs to solve: alternatives finds all models up to its threshold.")
    most = as_count("max_models", max_models, 1)
    asked = {"lambda_0": lambda_0, "k": k, "budget": budget, "checkpoint": checkpoint, **settings}
    problem, options, starts = asked_for(X, y, warm_start, asked)
    options = replace(affordable(problem, options), gap=0.0)
    if n_best is None:
        share = 0.01 if within is None else as_nonnegative("within", within)
        return collect(problem, replace(options, wanted=Wanted(all=True, within=share, most=most)), starts)
    return collect_best(problem, options, starts, as_count("n_best", n_best, 1), most)


def collect(problem: Problem, options: SearchOptions, starts: list[Model]) -> Alternatives:
    """Return all models that are wanted, as far as a limit does not end the search."""
    search = Search(problem, options, starts)
    status = search.explore()
    return finish(search, status)


def collect_best(problem: Problem, options: SearchOptions, starts: list[Model], count: int, most: int) -> Alternatives:
    """Return so many of the best models, and those that are as good as the last of them."""
    if count > most:
        raise InvalidInputError(f"n_best must be at most max_models, got {count} and {most}.")
    begin = time.monotonic()
    search = Search(problem, options)
    found = find_incumbent(search.known_boxes(), options, starts, "local_search", begin)
    search.assume(*assumed_bounds(problem, options, found.model, None))
    highest = highest_level(problem, options)
    factor = 1
    while True:
        # The level of the last of some supports that are at hand; a few of them may turn out to gain nothing.
        level, start = reachable_level(search, found.model, factor * count)
        level = min(level, highest)
        left = max(options.time_limit - (time.monotonic() - begin), 0.0)
        wanted = Wanted(all=True, count=count, level=level, most=most)
        out = collect(problem, replace(options, wanted=wanted, time_limit=left), [start])
        if len(out.models) >= count or not out.complete or level >= highest:
            return replace(out, seconds=time.monotonic() - begin)
        factor *= MORE_SEEDS


def reachable_level(search: Search, model: Model, count: int) -> tuple[float, Model]:
    """Return an objective that so many supports reach, infinite if they are not found among the neighbours of a model, and the
    best model on the way; both keep to the bounds that the search assumes.

    Neighbours are the supports with a feature less, and those with another in its place: that with the steepest slope first.
    """
    problem, options = search.problem, search.options
    fits = search.relaxations(model.objective, excluded=[])
    models: dict[frozenset[int], Model] = {}
    paying = problem.penalty.paying(np.arange(problem.design.shape[1], dtype=np.int32))
    free = set(np.flatnonzero(problem.penalty.unpenalized).tolist())

    def refit(support: frozenset[int]) -> Model:
        fitted = search.model(fits.refit([j * problem.outputs for j in sorted(support | free)]))
        if frozenset(problem.penalty.paying(fitted.support).tolist()) == support and options.allows(fitted, problem):
            models[support] = fitted
        return fitted

    home = frozenset(problem.penalty.paying(model.support).tolist())
    parts = [home - {j} for j in home] + ([home] if options.k is None or len(home) < options.k else [])
    steepest = []
    for part in parts:
        slopes = problem.loss_slopes(refit(part).coefficients)
        slopes = np.sqrt(np.square(slopes).sum(axis=1))
        if problem.penalty.grouped:  # only the heads of groups stand for features
            heads = problem.penalty.heads == np.arange(len(slopes))
            slopes = np.where(heads, np.sqrt(problem.penalty.by_group(slopes**2)), -1.0)
        slopes[list(part | free)] = -1.0
        steepest.append(np.argsort(-slopes, kind="stable"))
    refit(home)
    for at in range(min(MORE_SEEDS * count, len(paying))):
        for part, columns in zip(parts, steepest, strict=True):
            if len(models) >= MORE_SEEDS * count or len(part) + at >= len(paying):
                break
            refit(part | {int(columns[at])})
    ordered = sorted(models.values(), key=lambda each: each.objective)
    start = ordered[0] if ordered else model
    if len(ordered) < count:
        return np.inf, start
    return ordered[count - 1].objective + _core.Wanted.equal * size_of(start.objective, problem.null), start


def finish(search: Search, status: Status | None) -> Alternatives:
    """Return the models that a search has listed, with their proof."""
    problem, tree = search.problem, search.tree
    cost, best = problem.units.cost, search.model(tree.incumbent())
    leaves = [(node, support // problem.outputs, search.model(model)) for node, support, model, _ in tree.listed()]
    models, redundant, lost = without_redundant(search, leaves, best.objective)
    if models and models[0][1].objective < best.objective:
        best = models[0][1]
    threshold, size = min(tree.level * cost, float(np.finfo(np.float64).max)), size_of(best.objective, problem.null)
    below = min(max(min(tree.lower_bound * cost, lost - COMPLETE * size), 0.0), threshold)
    stopped = status is not None
    if status is None:
        status = "complete" if threshold - below <= COMPLETE * size else "precision"
    arrays = {**tree_arrays(tree.tree(), problem), **listed_models(models, redundant, problem.outputs)}
    certificate = search.certificate(best, below, status, arrays)
    certificate = replace(certificate, claim=replace(certificate.claim, threshold=threshold))
    certificate = search.claiming_what_is_proved(certificate)
    by_size = certificate.model.lambda_0 is None
    listed = [model for _, model in models]
    if stopped and not any(np.array_equal(model.support, best.support) for model in listed):
        listed.insert(0, best)  # it is known, though the search has not come to its leaf
    listed = [replace(model, lambda_0=None) if by_size else model for model in listed]
    claim = certificate.claim
    return Alternatives(
        listed,
        threshold=threshold,
        complete_below=claim.lower_bound,
        status=claim.status,
        within=claim.within,
        n_features=problem.design.shape[1],
        names=problem.design.names,
        unpenalized=tuple(np.flatnonzero(problem.penalty.unpenalized).tolist()),
        nodes=tree.nodes,
        seconds=search.seconds(),
        certificate=certificate,
        history=search.history,
        grouping=problem.grouping,
    )


def without_redundant(
    search: Search, leaves: list[tuple[int, NDArray[np.int32], Model]], best: float
) -> tuple[list[tuple[int, Model]], dict[int, int], float]:
    """Return the models with their nodes, the best one first; the nodes of supports that gain nothing, and for each the number
    of a model that does as well with a part of it; and the least objective of supports of which such a part is not there.
    """
    problem, size = search.problem, size_of(best, search.problem.null)
    equal, nothing = _core.Wanted.equal * size, (_core.Wanted.equal + _core.Wanted.nothing) * size
    supports = {frozenset(support.tolist()): (node, model) for node, support, model in leaves}
    base: dict[frozenset[int], frozenset[int]] = {}
    parts: Iterable[frozenset[int]]
    kept: list[frozenset[int]] = []
    lost = np.inf
    for support, (_, model) in sorted(supports.items(), key=lambda item: len(item[0])):
        used = frozenset(problem.penalty.paying(model.support).tolist())
        if used == support:
            parts, slack = [support - {j} for j in support], equal
        else:  # what the part itself gains may have been too little to be looked at
            parts, slack = all_parts(used), nothing
        roots = (root for part in parts if (root := base.get(part, part)) in supports)
        found = next((root for root in roots if supports[root][1].cost <= model.cost + slack), None)
        if found is not None:
            base[support] = found
        elif used == support:
            kept.append(support)
        else:  # a limit ended the search before the part was reached
            lost = min(
                lost, model.cost + search.options.lambda_0 * problem.penalty.spent(np.array(sorted(support), dtype=np.int32))
            )
    kept.sort(key=lambda support: order(supports[support][1]))
    place = {support: at for at, support in enumerate(kept)}
    redundant = {supports[support][0]: place[root] for support, root in base.items()}
    return [supports[support] for support in kept], redundant, lost


def all_parts(support: frozenset[int]) -> Iterator[frozenset[int]]:
    """Yield a set and its parts, the larger ones first."""
    for size in range(len(support), -1, -1):
        yield from map(frozenset, combinations(sorted(support), size))


def order(model: Model) -> tuple[float, int, list[int]]:
    """Return the key by which models are sorted: their objective, then the number of features."""
    return model.objective, model.size, model.support.tolist()
