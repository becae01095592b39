"""The best model of each size: min G(beta) subject to ||beta||_0 <= k."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.notebook import html_table
from ellzero.base.signatures import arguments_of, passes_on
from ellzero.base.validation import as_count, as_nonnegative
from ellzero.paths.by_size import best_by_size
from ellzero.paths.fitted_models import FittedModels, intercept_columns
from ellzero.paths.norm_bound import UNBOUNDED_SHARE, bound_norms
from ellzero.paths.options import PathSettings, path_options
from ellzero.plots import plot_sizes
from ellzero.problem.making import make_problem
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import PathOptions, solve_path
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from typing_extensions import Unpack

Array = NDArray[np.float64]
# A model must be better than the best smaller one, relative to it, by this much to be worth its size.
WORTH_A_FEATURE = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class Sizes(FittedModels):
    """One model for each requested number of features.

    Attributes
    ----------
    sizes : (m,) increasing
    coef : (m, p) scipy.sparse CSR matrix, on the scale of X; of several outputs (m * outputs, p), those of a model together
    intercept : (m,), of several outputs (m, outputs)
    objective : (m,) G, without any lambda_0 term, recomputed from the raw data
    support_size : (m,) number of features (not counting unpenalized ones): at most ``sizes``, fewer if more do not help
    reached : (m,) bool, ``support_size == sizes``
    problem : the data and settings; it keeps a reference to X and y
    max_norm : the bound on ||beta||_2, or None

    """

    sizes: NDArray[np.int64]
    models: list[Model]
    problem: Problem
    max_norm: float | None

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Whether each model has the requested number of features."""
        return np.asarray(self.support_size == self.sizes)

    def __getitem__(self, k: int) -> Model:
        """Return the model for size k."""
        place = np.flatnonzero(self.sizes == k)
        if not len(place):
            raise KeyError(f"size {k!r} was not requested.")
        return self.models[int(place[0])]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per size, as a pandas data frame."""
        pandas = need("pandas", "frame")

        return pandas.DataFrame(
            {
                "size": self.sizes,
                "support_size": self.support_size,
                "objective": self.objective,
                **intercept_columns(self.problem, self.intercept),
                "reached": self.reached,
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the objective against the number of features, into `ax` if it is given (needs matplotlib)."""
        return plot_sizes(self.sizes, self.objective, self.reached, ax)

    def _heading(self) -> str:
        """Return the models in a line."""
        n, p = self.problem.design.shape
        norm = "" if self.max_norm is None else f", norm at most {self.max_norm:g}"
        penalty = self.problem.penalty
        return (
            f"{self.problem.loss.name} models of {len(self)} sizes, {n} rows, {p} features, lambda_1 = {penalty.lambda_1:g}, "
            f"lambda_2 = {penalty.lambda_2:g}{norm}"
        )

    def __repr__(self) -> str:
        lines = [self._heading(), f"{'size':>6} {'objective':>14}"]
        for size, has, value in zip(self.sizes, self.support_size, self.objective, strict=True):
            note = "" if has == size else f"  ({has} features: none of {size} was found that is better)"
            lines.append(f"{size:6d} {value:14.8g}{note}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        points = zip(self.sizes, self.support_size, self.objective, strict=True)
        rows = [[str(size), str(has), f"{value:.8g}"] for size, has, value in points]
        return html_table(self._heading(), ["size", "features", "objective"], rows)


@passes_on(PathSettings, make_problem, path_options)
def fit_sizes(
    X: object,
    y: ArrayLike,
    sizes: Iterable[int] | int,
    *,
    algorithm: str = "local_search",
    max_norm: float | None = None,
    **settings: Unpack[PathSettings],
) -> Sizes:
    """Fit a model with at most k features for each k in ``sizes``, by local search.

    Minimises ``G = sum_i w_i f(eta_i, y_i) + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2`` subject to ``||beta||_0 <= k``.
    All sizes are searched together: a good model of one size starts the search at its neighbours.

    Parameters
    ----------
    X, y, loss, huber_delta, lambda_1, lambda_2, fit_intercept, standardize, sample_weight, lower, upper, unpenalized,
    feature_cost, groups, feature_names, rules :
        The problem, as in :func:`fit_path`. Only costs of zero matter here; :func:`fit_budgets` limits the sum of the costs
        instead of the number of features.
    sizes : integers of at least 0
        Numbers of features, not counting unpenalized ones.
    algorithm : {"local_search", "cd", "iht"}
        "local_search": swaps improve the models of all sizes. "cd": no swaps. "iht": iterative hard thresholding finds the
        sizes that a path of coordinate descent skips, as in the paper.
    effort, swaps, q, improvement :
        Settings of local search, as in :func:`fit_path`; with ``swaps="exhaustive"`` no single swap improves a returned model.
    max_norm : float, optional
        Also require ``||beta||_2 <= max_norm`` for all coefficients, also of unpenalized features (with ``standardize``, the
        standardised ones), as in the paper's error bounds. It keeps coefficients finite if the classes can be separated, and
        takes several times as long.
    tol, n_jobs, progress :
        As in :func:`fit_path`.

    Returns
    -------
    Sizes
        If X has no more columns, or no further feature improves the model, a size has the best smaller model; its ``reached``
        is False.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(200, 50, 3, s=3.0, random_state=0)
    >>> models = ez.fit_sizes(X, y, range(1, 6), lambda_2=1e-3)
    >>> models.support_size.tolist(), models[3].support.tolist()
    ([1, 2, 3, 4, 5], [0, 16, 33])

    """
    options = path_options(algorithm=algorithm, **arguments_of(path_options, settings))
    wanted = as_sizes(sizes)
    radius = None if max_norm is None or max_norm == np.inf else as_nonnegative("max_norm", max_norm)
    problem = make_problem(X, y, **arguments_of(make_problem, settings))
    if radius is not None and problem.rules:
        raise InvalidInputError("rules and max_norm cannot both be given.")
    return compute_sizes(problem, wanted, options, radius)


def compute_sizes(problem: Problem, wanted: NDArray[np.int64], options: PathOptions, radius: float | None = None) -> Sizes:
    """Fit models of these (increasing) sizes to a validated problem."""
    inside = tuple(int(size) for size in np.unique(np.minimum(wanted, problem.penalty.countable())))
    sweep = options.for_sizes(inside, len(problem.y))
    first = sweep if radius is None else sweep.for_part(0.0, UNBOUNDED_SHARE)
    found = best_by_size(problem, solve_path(problem, first).by_size)
    if radius is not None:
        found = bound_norms(problem, sweep, found, inside, radius)
    models = []
    for size in wanted:
        best = min(found)
        for k in sorted(k for k in found if k <= size):
            if found[k].cost < found[best].cost * (1.0 - WORTH_A_FEATURE):
                best = k
        models.append(found[best])
    options.report(1.0, 0.0, int(inside[-1]))
    return Sizes(wanted, models, problem, radius)


def as_sizes(sizes: Iterable[int] | int) -> NDArray[np.int64]:
    """Return the wanted sizes in increasing order, without repetition, after checking them."""
    try:
        listed: list[Any] = [sizes] if isinstance(sizes, (int, np.integer)) else list(sizes)
    except TypeError:
        raise InvalidInputError(f"sizes must hold integers, got {sizes!r}.") from None
    if not listed:
        raise InvalidInputError("sizes must hold at least one number of features.")
    return np.unique([as_count("sizes", size, 0) for size in listed]).astype(np.int64)
