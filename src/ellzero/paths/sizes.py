"""The best model of each size: min G(beta) subject to ||beta||_0 <= k."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import ProgressCallback
from ellzero.base.validation import as_count, as_nonnegative
from ellzero.paths.options import path_options
from ellzero.paths.path import sized_models
from ellzero.plots import plot_sizes
from ellzero.problem.model import Model, coefficient_rows
from ellzero.problem.problem import Problem, make_problem
from ellzero.solvers.packing import make_model, to_core_scale
from ellzero.solvers.paths import PathOptions, solve_path

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Sizes", "fit_sizes"]

Array = NDArray[np.float64]
# A model must be better than the next smaller one by this share of it to count as one of its size.
WORTH_A_FEATURE = 1e-10
# Rounds of search and change of the multiplier under a norm constraint, and steps of a search for the multiplier.
MOST_ROUNDS = 10
MULTIPLIER_STEPS = 100
SAME_MULTIPLIER = 1e-6  # multipliers of one model found from two sides, relative
CLOSE_MULTIPLIERS = 1e-2  # multipliers between which no search is worth its time, relative
ALL_BUT_ZERO = 1e30  # a multiplier under which every free coefficient vanishes
UNBOUNDED_SHARE = 0.3  # of the progress: the models without the bound


@dataclass(frozen=True, eq=False, repr=False)
class Sizes:
    """One model for each wanted number of features.

    Attributes
    ----------
    sizes : (m,) increasing
    coef : (m, p) scipy.sparse CSR matrix, on the scale of X
    intercept : (m,)
    objective : (m,) G, without any lambda_0 term, recomputed from the raw data
    support_size : (m,) number of features (not counting unpenalized ones): at most ``sizes``, fewer where no feature improves
    reached : (m,) bool, ``support_size == sizes``
    problem : the data and settings; it keeps a reference to X and y
    max_norm : the bound on ||beta||_2, or None

    """

    sizes: NDArray[np.int64]
    models: list[Model]
    problem: Problem
    max_norm: float | None

    @property
    def coef(self) -> sparse.csr_matrix:
        """All coefficients, one row per size."""
        return coefficient_rows(self.models, self.problem.design.shape[1])

    @property
    def intercept(self) -> Array:
        """One intercept per size."""
        return np.array([model.intercept for model in self.models])

    @property
    def objective(self) -> Array:
        """G of each model."""
        return np.array([model.objective for model in self.models])

    @property
    def support_size(self) -> NDArray[np.int64]:
        """How many features each model has."""
        return np.array([self.problem.counted(model.support) for model in self.models], dtype=np.int64)

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Whether each model has as many features as were asked for."""
        return np.asarray(self.support_size == self.sizes)

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Model]:
        return iter(self.models)

    def __getitem__(self, k: int) -> Model:
        """The model for size k."""
        place = np.flatnonzero(self.sizes == k)
        if not len(place):
            raise KeyError(f"size {k!r} was not asked for.")
        return self.models[int(place[0])]

    def to_frame(self) -> pd.DataFrame:
        """One row per size, as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(
            {
                "size": self.sizes,
                "support_size": self.support_size,
                "objective": self.objective,
                "intercept": self.intercept,
                "reached": self.reached,
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Objective against the number of features (needs matplotlib)."""
        return plot_sizes(self.sizes, self.objective, self.reached, ax)

    def __repr__(self) -> str:
        n, p = self.problem.design.shape
        norm = "" if self.max_norm is None else f", norm at most {self.max_norm:g}"
        penalty = self.problem.penalty
        lines = [
            f"{self.problem.loss.name} models of {len(self)} sizes, {n} rows, {p} features, lambda_1 = {penalty.lambda_1:g}, "
            f"lambda_2 = {penalty.lambda_2:g}{norm}",
            f"{'size':>6} {'objective':>14}",
        ]
        for size, has, value in zip(self.sizes, self.support_size, self.objective, strict=True):
            note = "" if has == size else f"  ({has} features: none of {size} was found that is better)"
            lines.append(f"{size:6d} {value:14.8g}{note}")
        return "\n".join(lines)


def fit_sizes(
    X: object,
    y: ArrayLike,
    sizes: Iterable[int] | int,
    *,
    loss: str = "logistic",
    lambda_1: float = 0.0,
    lambda_2: float = 0.0,
    algorithm: str = "local_search",
    swaps: str = "ranked",
    q: int | None = None,
    improvement: str = "best",
    max_norm: float | None = None,
    fit_intercept: bool = True,
    standardize: bool = False,
    sample_weight: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    unpenalized: ArrayLike | None = None,
    tol: float = 1e-6,
    n_jobs: int | None = None,
    progress: bool | ProgressCallback = False,
) -> Sizes:
    """The best model found with at most k features, for each k in ``sizes``.

    Minimises ``G = sum_i w_i f(eta_i, y_i) + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2`` subject to ``||beta||_0 <= k``.
    All sizes are searched together: a good model of one size starts the search at its neighbours.

    Parameters
    ----------
    X, y, loss, lambda_1, lambda_2, fit_intercept, standardize, sample_weight, lower, upper, unpenalized :
        The problem, as in :func:`fit_path`.
    sizes : integers of at least 0
        Numbers of features, not counting unpenalized ones.
    algorithm : {"local_search", "cd", "iht"}
        Swaps between models of all sizes; without them; or, as in the paper's procedure, the sizes that a path of coordinate
        descent skips by iterative hard thresholding.
    swaps, q, improvement :
        Where local search looks, as in :func:`fit_path`; with ``swaps="exhaustive"`` no single swap improves a returned model.
    max_norm : float, optional
        Also require ``||beta||_2 <= max_norm`` (of all coefficients, unpenalized features included; of the standardised ones
        with ``standardize``): the estimator of the paper's error bounds. It keeps coefficients finite where the classes can be
        separated. Each size is then solved for its own multiplier, which takes several times as long.
    tol, n_jobs, progress :
        As in :func:`fit_path`.

    Returns
    -------
    Sizes
        A size that cannot be reached, because X has no more columns or no further feature improves the model, holds the best
        smaller model; its ``reached`` is False.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(200, 50, 3, s=3.0, random_state=0)
    >>> models = ez.fit_sizes(X, y, range(1, 6), lambda_2=1e-3)
    >>> models.support_size.tolist(), models[3].support.tolist()
    ([1, 2, 3, 4, 5], [0, 16, 33])

    """
    options = path_options(
        algorithm=algorithm, swaps=swaps, q=q, improvement=improvement, tol=tol, n_jobs=n_jobs, progress=progress
    )
    wanted = as_sizes(sizes)
    radius = None if max_norm is None or max_norm == np.inf else as_nonnegative("max_norm", max_norm)
    problem = make_problem(
        X,
        y,
        loss=loss,
        lambda_1=lambda_1,
        lambda_2=lambda_2,
        fit_intercept=fit_intercept,
        standardize=standardize,
        sample_weight=sample_weight,
        lower=lower,
        upper=upper,
        unpenalized=unpenalized,
        n_jobs=n_jobs,
    )
    return compute_sizes(problem, wanted, options, radius)


def compute_sizes(problem: Problem, wanted: NDArray[np.int64], options: PathOptions, radius: float | None = None) -> Sizes:
    """The models of these (increasing) sizes of a validated problem."""
    inside = tuple(int(size) for size in np.unique(np.minimum(wanted, problem.countable())))
    sweep = options.for_sizes(inside, len(problem.y))
    if radius is not None and options.progress is not None:
        whole = options.progress
        sweep = replace(sweep, progress=lambda fraction, at, size: whole(UNBOUNDED_SHARE * fraction, at, size))
    found = sized_models(problem, solve_path(problem, sweep).by_size)
    if radius is not None:
        found = bound_norms(problem, replace(sweep, progress=options.progress), found, inside, radius)
    models = []
    for size in wanted:
        best = min(found)
        for k in sorted(k for k in found if k <= size):
            if found[k].objective < found[best].objective * (1.0 - WORTH_A_FEATURE):
                best = k
        models.append(found[best])
    if options.progress is not None:
        options.progress(1.0, 0.0, int(inside[-1]))
    return Sizes(wanted, models, problem, radius)


def as_sizes(sizes: Iterable[int] | int) -> NDArray[np.int64]:
    """Increasing, without repetition."""
    try:
        listed: list[Any] = [sizes] if isinstance(sizes, (int, np.integer)) else list(sizes)
    except TypeError:
        raise InvalidInputError(f"sizes must hold integers, got {sizes!r}.") from None
    if not listed:
        raise InvalidInputError("sizes must hold at least one number of features.")
    return np.unique([as_count("sizes", size, 0) for size in listed]).astype(np.int64)


def bound_norms(
    problem: Problem, options: PathOptions, found: dict[int, Model], wanted: tuple[int, ...], radius: float
) -> dict[int, Model]:
    """The wanted sizes under ||beta||_2 <= radius.

    On a support S the constrained minimum is that of G + mu ||beta||^2 with the right multiplier mu: lambda_2 + mu takes the
    place of lambda_2. If the best model at some mu has that very multiplier, no support has a lower constrained minimum (weak
    duality). Supports may disagree, though: the best one at the mu of S may want another mu. Then the search goes on between
    multipliers at which the best model is too long and those at which it is not.
    """
    out: dict[int, Model] = {}
    before: list[Model] = []  # the constrained models of smaller sizes
    for count, size in enumerate(wanted):
        # Under the bound more features may be worth having than without it: growing from a smaller model then finds them.
        start = found[max(k for k in found if k <= size)]
        best, multiplier = on_support(problem, options, start, radius)
        fits = {best.support.tobytes(): (best, multiplier)}
        # At `low` the best model is too long (at 0 it is, or nothing is to do), at `high` it is not.
        low, high = 0.0, np.inf
        for _ in range(MOST_ROUNDS if multiplier > 0.0 else 0):
            there = at_multiplier(problem, multiplier)
            seeds = to_core_scale(problem, [best, start, *before[-1:]])
            searched = solve_path(there, replace(options, sizes=(size,), progress=None), seeds=seeds, sweep=False)
            sized = sized_models(there, searched.by_size)
            candidate = min((sized[k] for k in sized if k <= size), key=lambda model: model.objective)
            key = candidate.support.tobytes()
            if key not in fits:
                fits[key] = on_support(problem, options, candidate, radius)
            other, its_multiplier = fits[key]
            if other.objective < best.objective * (1.0 - 1e-9):
                best = other
            if abs(its_multiplier - multiplier) <= SAME_MULTIPLIER * multiplier:
                break  # no support has a lower constrained minimum
            low, high = (multiplier, high) if its_multiplier > multiplier else (low, multiplier)
            if high <= low * (1.0 + CLOSE_MULTIPLIERS):
                break
            multiplier = its_multiplier if low < its_multiplier < high else float(np.sqrt(max(low, 0.1 * high) * high))
        has = problem.counted(best.support)
        if has not in out or best.objective < out[has].objective:
            out[has] = best
        before.append(best)
        if options.progress is not None:
            options.progress(UNBOUNDED_SHARE + (1.0 - UNBOUNDED_SHARE) * (count + 1) / len(wanted), 0.0, size)
    return out


def at_multiplier(problem: Problem, multiplier: float) -> Problem:
    return replace(problem, penalty=replace(problem.penalty, lambda_2=problem.penalty.lambda_2 + multiplier))


def on_support(problem: Problem, options: PathOptions, model: Model, radius: float) -> tuple[Model, float]:
    """The constrained minimum on the model's support, and its multiplier."""
    size = problem.counted(model.support)
    refit = replace(options, algorithm="cd", swaps="ranked", q=None, sizes=(size,), max_support=size, progress=None)
    allowed = set(model.support.tolist())
    if problem.penalty.unpenalized is not None:
        allowed |= set(np.flatnonzero(problem.penalty.unpenalized).tolist())
    start = model

    def at(multiplier: float) -> tuple[Model, float]:
        nonlocal start
        there = at_multiplier(problem, multiplier)
        found = solve_path(there, refit, seeds=to_core_scale(problem, [start]), sweep=False)
        fits = sized_models(there, found.by_size)
        start = min((fit for fit in fits.values() if set(fit.support.tolist()) <= allowed), key=lambda fit: fit.objective)
        value = problem.objective(start.support, start.values, start.intercept, 0.0)
        out = make_model(problem, start.support, start.values, start.intercept, np.nan, value)
        return out, float(np.linalg.norm(problem.penalised(out.support, out.values)))

    fit, norm = at(0.0)
    if norm <= radius:
        return fit, 0.0
    if radius == 0.0 and not problem.held_away_from_zero():
        alone = replace(refit, sizes=(0,), max_support=0)
        empty = solve_path(at_multiplier(problem, ALL_BUT_ZERO), alone, sweep=False)
        b = sized_models(problem, empty.by_size)[0].intercept
        none = np.zeros(0, dtype=np.int32)
        value = problem.objective(none, np.zeros(0), b, 0.0)
        return make_model(problem, none, np.zeros(0), b, np.nan, value), 0.0
    # 1 / norm is nearly linear in the multiplier: secant steps on it, inside a bracket whose upper end is feasible.
    low, low_norm = 0.0, norm
    high = 1e-6
    while True:
        fit, norm = at(high)
        if norm <= radius:
            break
        low, low_norm = high, norm
        high *= 10.0
        if high > ALL_BUT_ZERO:
            raise InvalidInputError(f"max_norm = {radius:g} leaves no model.")
    for step in range(MULTIPLIER_STEPS):
        if norm >= radius * (1.0 - 1e-9) or high - low <= 1e-12 * high:
            break
        share = (1.0 / radius - 1.0 / low_norm) / (1.0 / norm - 1.0 / low_norm)
        # A little to the feasible side, and every third step halves the bracket: neither end may stay for ever.
        middle = low + (high - low) * min(share * (1.0 + 1e-8) + 1e-12, 1.0 - 1e-3)
        if step % 3 == 2:
            middle = float(np.sqrt(low * high)) if low > 0.1 * high else 0.1 * high if low == 0.0 else 0.5 * (low + high)
        trial, its_norm = at(middle)
        if its_norm <= radius:
            fit, norm, high = trial, its_norm, middle
        else:
            low, low_norm = middle, its_norm
    return fit, high
