"""Paths over lambda_0 and models of given sizes, by any of the algorithms: thin calls into the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import ProgressCallback
from ellzero.problem.losses import HINGE_SMOOTHING
from ellzero.problem.problem import Problem, restricted
from ellzero.problem.rows import FewRows
from ellzero.problem.rules import Rules
from ellzero.problem.sample import sample_of
from ellzero.problem.units import atoms_of
from ellzero.solvers.fields import core_object

Array = NDArray[np.float64]
SHARE_OF_SAMPLE = 0.5  # of a search that starts there, in reports of its progress
Q_SHARE = 0.05  # the paper's q of Algorithm 3, as a share of the columns


@dataclass(frozen=True, kw_only=True)
class PathOptions:
    """The options of a path, or of models of given sizes.

    An empty `lambda_0` asks for a dynamic grid. Nonempty `sizes` ask for models of these sizes instead of a path. Fields that
    the core's options have too are passed on by name.
    """

    lambda_0: Array
    sizes: tuple[int, ...] = ()
    budgets: tuple[float, ...] = ()  # increasing; not empty: models that cost at most so much are wanted, not a path
    paid: float = 0.0  # lambda_0 beside budgets
    n_lambda: int = 100
    lambda_min_ratio: float = 1e-3
    max_support: int | None = None
    algorithm: str = "cd"
    effort: str = "thorough"  # of local search
    swaps: str = "ranked"
    q: int | None = None  # candidates of swaps="q_best"; None: 5 % of the columns
    improvement: str = "best"
    swap_size: int = 1  # above one, larger swaps are searched for after the path is computed
    tol: float = 1e-6
    threads: int = 1
    progress: ProgressCallback | None = None
    check: Callable[[], None] | None = None
    """Called about ten times a second. An exception that it raises stops the work; the result holds what was found so far."""

    def for_part(self, begin: float, share: float) -> PathOptions:
        """Return options that report the progress of a part of the work as that of the whole."""
        return replace(self, progress=of_part(self.progress, begin, share))

    def report(self, done: float, lambda_0: float = 0.0, features: int = 0) -> None:
        """Report the progress, if someone listens."""
        if self.progress is not None:
            self.progress(done, lambda_0, features)

    def for_budgets(self, budgets: tuple[float, ...], rows: int, paid: float = 0.0, most: int | None = None) -> PathOptions:
        """Return options for models within these (increasing) budgets, at `paid` as lambda_0 and with `most` features."""
        return replace(self, budgets=budgets, paid=paid, max_support=most, n_lambda=rows, lambda_min_ratio=1e-12)

    def for_sizes(self, sizes: tuple[int, ...], rows: int) -> PathOptions:
        """Return options for models of these (increasing) sizes; the sweep ends at the largest, whatever its lambda_0."""
        return replace(self, sizes=sizes, max_support=sizes[-1], n_lambda=rows, lambda_min_ratio=1e-12)


def core_problem(problem: Problem, tol: float, few: FewRows | None = None, smoothing: float = HINGE_SMOOTHING) -> _core.Problem:
    """Return the problem in the core's form and units, on the `few` rows that stand for all, if there are any.

    Several outputs are stacked: to the core, their atoms are columns that come in groups.
    """
    units, outputs = problem.units, problem.outputs
    penalty, scale = units.core_penalty().of_atoms(outputs), None
    if (units.scale != 1.0).any():  # the core has faster ways without
        scale = units.scale
    if few is None:
        design, y, w, intercept = problem.design.core, units.core_response(problem.y), problem.w, problem.fit_intercept
    else:
        design, y, w = few.design.core, few.y.ravel(order="F"), few.w
        intercept = problem.fit_intercept and not few.centred
    mean = problem.mean if intercept else None
    if outputs > 1:
        design = _core.stacked(design, mean, scale, outputs=outputs, coupled=problem.is_multinomial)
        mean = scale = None
    return core_object(
        _core.Problem,
        design=design,
        y=y,
        w=np.tile(w, outputs),
        square=np.repeat(problem.square, outputs),
        loss=problem.loss.name,
        delta=units.loss.settings.get("huber_delta"),
        smoothing=smoothing,
        mean=mean,
        scale=scale,
        lambda_1=penalty.lambda_1,
        lambda_2=penalty.lambda_2,
        lower=penalty.lower,
        upper=penalty.upper,
        prices=penalty.price,
        groups=_core.Groups(penalty.heads, np.repeat(problem.coupling, outputs)) if penalty.grouped else None,
        rules=core_rules(problem.rules, outputs),
        intercept=intercept,
        tolerance=tol,
        heavy=units.heavy,
    )


def core_rules(rules: Rules, outputs: int) -> list[_core.Rule]:
    """Return the statements of rules in the core's form; to it, a feature of several outputs is its first atom."""
    return [
        _core.Rule(max(each.feature * outputs, -1), each.low, each.high, np.array(each.members, dtype=np.int32) * outputs)
        for each in rules.statements
    ]


def least_seed(problem: Problem) -> _core.Model:
    """Return the model, with coefficients of zero, of a least support that obeys the rules."""
    out = _core.Model()
    out.support = atoms_of(problem.least_support(problem.penalty.price), problem.outputs).astype(np.int32)
    out.beta = np.zeros(len(out.support))
    return out


def check_rules(problem: Problem, options: PathOptions) -> None:
    """Refuse limits within which no model obeys the rules, and algorithms that cannot obey them."""
    if not problem.rules:
        return
    if options.algorithm == "iht" or options.swaps != "ranked":
        raise InvalidInputError("rules need algorithm='cd' or 'local_search', with swaps='ranked'.")
    if options.sizes:
        problem.require_room("each size", options.sizes[0])
    elif options.max_support is not None:
        problem.require_room("max_support", options.max_support)
    if options.budgets:
        problem.rules.require_within("budget", problem.penalty.price, options.budgets[0])


def solve_path(
    problem: Problem, options: PathOptions, seeds: Sequence[_core.Model] = (), sweep: bool = True
) -> _core.PathResult:
    """Compute the path. `seeds` are models of neighbouring problems to start from too; without `sweep`, only from them.

    Models are in the core's scale, lambda_0 in the user's.
    """
    if options.swaps != "ranked" and (problem.penalty.grouped or problem.outputs > 1):
        where = "several outputs" if problem.outputs > 1 else "groups"
        raise InvalidInputError(f"swaps={options.swaps!r} exchanges single coefficients: with {where}, use swaps='ranked'.")
    check_rules(problem, options)
    p, columns = problem.design.shape[1], problem.design.filled
    options = replace(options, q=options.q or max(1, round(Q_SHARE * p)))
    if len(columns) == p:
        return solve_on_columns(problem, options, seeds, sweep)
    columns = np.union1d(columns, np.flatnonzero(problem.penalty.unpenalized))
    if problem.rules:
        columns = np.union1d(columns, np.flatnonzero(np.isin(problem.penalty.heads, problem.rules.features)))
    atoms = atoms_of(columns, problem.outputs)
    found = solve_on_columns(restricted(problem, columns), options, [on_columns(seed, atoms) for seed in seeds], sweep)
    found.models = [renumbered(model, atoms[model.support]) for model in found.models]
    found.by_size = [renumbered(model, atoms[model.support]) for model in found.by_size]
    return found


def solve_on_columns(problem: Problem, options: PathOptions, seeds: Sequence[_core.Model], sweep: bool) -> _core.PathResult:
    """Compute the path of a problem that has only columns that a model can use."""
    if options.sizes:  # models of one size are compared by G alone
        problem = replace(problem, penalty=problem.penalty.with_equal_prices())
    if problem.rules:
        seeds = [least_seed(problem), *seeds]
    few = problem.few_rows(options.threads, thorough=options.algorithm == "local_search")
    sample = sample_of(problem, options.threads, few) if options.algorithm == "local_search" else None
    if sample is not None:
        found = solve_on_columns(
            sample, options.for_part(0.0, SHARE_OF_SAMPLE), [moved(problem, sample, s) for s in seeds], sweep
        )
        if found.stopped is not None:
            found.by_size = [moved(sample, problem, model) for model in found.by_size]
            return found
        # Models along lambda_0 are swept for on all rows, too: they are nowhere worse than those of coordinate descent.
        seeds, sweep = [*seeds, *models_of_sample(problem, sample, found, options)], sweep and not options.sizes
        options = options.for_part(SHARE_OF_SAMPLE, 1.0 - SHARE_OF_SAMPLE)
    unit = problem.units.lambda_0
    known = {field.name: getattr(options, field.name) for field in fields(options) if hasattr(_core.PathOptions, field.name)}
    budgets = (1.0 + 0.5 * _core.budget_slack) * np.array(options.budgets) / problem.units.price
    known |= {"budgets": budgets, "paid": options.paid / unit}
    seeds = [without_intercept(seed) for seed in seeds] if few is not None and few.centred else list(seeds)
    known |= {"lambda_0": options.lambda_0 / unit, "seeds": seeds, "sweep": sweep}
    found = _core.fit_path(
        core_problem(problem, options.tol, few=few),
        core_object(_core.PathOptions, **known),
        None if sample is None else core_problem(sample, options.tol),
        threads=options.threads,
        progress=of_part(options.progress, 0.0, 1.0, unit),
        check=options.check,
    )
    found.lambda_0 = found.lambda_0 * unit
    return found


def models_of_sample(problem: Problem, sample: Problem, found: _core.PathResult, options: PathOptions) -> list[_core.Model]:
    """Return what a search on a sample found, for the search on all rows to start from."""
    most = 1 + max((model.size for model in found.models), default=0)
    wanted = options.sizes or range(most + 1)
    best = {tuple(model.support): model for model in (*found.models, *found.by_size) if model.size in wanted}
    return [moved(sample, problem, model) for model in best.values()]


def moved(here: Problem, there: Problem, model: _core.Model) -> _core.Model:
    """Return a core model of one problem in the units of another on the same columns."""
    return there.units.core_model(here.units.coefficients(model))


def of_part(progress: ProgressCallback | None, begin: float, share: float, unit: float = 1.0) -> ProgressCallback | None:
    """Return a callback for a share of the work, which has another unit of lambda_0."""
    if progress is None:
        return None
    whole = progress
    return lambda done, lambda_0, features: whole(begin + share * done, lambda_0 * unit, features)


def on_columns(model: _core.Model, columns: NDArray[np.int64]) -> _core.Model:
    """Return a copy of a model on these columns, numbered anew; the others are empty and change nothing.

    The models of a result belong to it: what is done to one of them is done to the result.
    """
    kept = np.isin(model.support, columns)
    out = _core.Model(model)
    out.beta = model.beta[kept]
    return renumbered(out, np.searchsorted(columns, model.support[kept]))


def without_intercept(model: _core.Model) -> _core.Model:
    """Return a copy of a model for a problem without an intercept."""
    out = _core.Model(model)
    out.intercept = np.zeros(0)
    return out


def renumbered(model: _core.Model, support: NDArray[np.int64]) -> _core.Model:
    """Give the columns of a model other numbers, and return it."""
    model.support = support.astype(np.int32)
    return model
