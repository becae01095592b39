"""The best model that a budget allows: min G(beta) subject to the costs of its features summing to at most the budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.notebook import html_table
from ellzero.base.signatures import arguments_of, passes_on
from ellzero.base.validation import as_nonnegative
from ellzero.exact.options import BUDGET_SLACK, require_affordable
from ellzero.paths.fitted_models import FittedModels, intercept_columns
from ellzero.paths.options import PathSettings, path_options
from ellzero.paths.sizes import compute_sizes
from ellzero.plots import plot_budgets
from ellzero.problem.making import make_problem
from ellzero.problem.model import Model, evaluated, feature_name
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import PathOptions, solve_path
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from typing_extensions import Unpack

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Budgets(FittedModels):
    """One model for each budget.

    Attributes
    ----------
    budgets : (m,) increasing
    coef : (m, p) scipy.sparse CSR matrix, on the scale of X
    intercept : (m,), of several outputs (m, outputs)
    objective : (m,) G, without any lambda_0 term, recomputed from the raw data
    support_size : (m,) number of features (not counting unpenalized ones)
    spent : (m,) sum of the costs of these features: at most ``budgets``
    problem : the data and settings; it keeps a reference to X and y

    """

    budgets: Array
    models: list[Model]
    problem: Problem

    @property
    def spent(self) -> Array:
        """The sum of the costs of each model's features."""
        return np.array([model.spent for model in self.models])

    def __getitem__(self, budget: float) -> Model:
        """Return the model for one of the requested budgets."""
        place = np.flatnonzero(self.budgets == budget)
        if not len(place):
            raise KeyError(f"budget {budget!r} was not requested.")
        return self.models[int(place[0])]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per budget, as a pandas data frame."""
        pandas = need("pandas", "frame")

        columns = {"budget": self.budgets, "spent": self.spent, "support_size": self.support_size}
        return pandas.DataFrame({**columns, "objective": self.objective, **intercept_columns(self.problem, self.intercept)})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot which features each budget buys, the cheapest at the top, into `ax` if it is given (needs matplotlib).

        Features that no model uses, and features that cost nothing, are left out.
        """
        features = np.unique(
            np.concatenate([np.zeros(0, np.int32), *(self.problem.penalty.paying(m.support) for m in self.models)])
        )
        used = np.array([np.isin(features, self.problem.penalty.paying(model.support)) for model in self.models]).reshape(
            len(self), -1
        )
        grouping, names = self.problem.grouping, self.problem.design.names
        labels = [feature_name(names, int(j)) if grouping is None else grouping.names[j] for j in features]
        costs = self.problem.penalty.price[features]
        return plot_budgets(self.budgets, used, labels, costs, self.objective, ax)

    def _heading(self) -> str:
        """Return the models in a line."""
        n, p = self.problem.design.shape
        penalty = self.problem.penalty
        return (
            f"{self.problem.loss.name} models of {len(self)} budgets, {n} rows, {p} features, "
            f"lambda_1 = {penalty.lambda_1:g}, lambda_2 = {penalty.lambda_2:g}"
        )

    def _repr_html_(self) -> str:
        points = zip(self.budgets, self.models, strict=True)
        rows = [[f"{budget:.6g}", f"{model.spent:.6g}", str(model.size), f"{model.objective:.8g}"] for budget, model in points]
        return html_table(self._heading(), ["budget", "cost", "features", "objective"], rows)

    def __repr__(self) -> str:
        lines = [self._heading(), f"{'budget':>12} {'cost':>12} {'features':>9} {'objective':>14}"]
        for budget, model in zip(self.budgets, self.models, strict=True):
            lines.append(f"{budget:12.6g} {model.spent:12.6g} {model.size:9d} {model.objective:14.8g}")
        return "\n".join(lines)


@passes_on(PathSettings, make_problem, path_options)
def fit_budgets(
    X: object,
    y: ArrayLike,
    budgets: Iterable[float] | float,
    *,
    algorithm: str = "local_search",
    **settings: Unpack[PathSettings],
) -> Budgets:
    """Fit a model within each of the ``budgets``: its features cost at most that much together.

    Minimises ``G = sum_i w_i f(eta_i, y_i) + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2`` subject to
    ``sum of feature_cost[j] over the features with beta_j != 0 <= budget``. :func:`solve` proves how good such a model is.

    Parameters
    ----------
    X, y, loss, huber_delta, lambda_1, lambda_2, fit_intercept, standardize, sample_weight, lower, upper, unpenalized,
    feature_cost, groups, feature_names, rules :
        The problem, as in :func:`fit_path`.
    budgets : numbers of at least zero
        No budget may be below the cost of the cheapest feature. Without ``feature_cost`` each feature costs 1.
    algorithm : {"local_search", "cd"}
        "local_search": exchange features for cheaper and more expensive ones, and spend what is left. "cd": no exchanges.
    effort, swaps, q, improvement, tol, n_jobs, progress :
        As in :func:`fit_path`.

    Returns
    -------
    Budgets

    Examples
    --------
    >>> import numpy as np
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(200, 50, 3, s=3.0, random_state=0)
    >>> cost = np.where(truth != 0, 2.0, 1.0)  # the features that matter cost more
    >>> models = ez.fit_budgets(X, y, [2, 4, 6], lambda_2=1e-3, feature_cost=cost)
    >>> models.spent.tolist(), models[6].support.tolist() == truth.nonzero()[0].tolist()
    ([2.0, 4.0, 6.0], True)

    """
    options = path_options(algorithm=algorithm, **arguments_of(path_options, settings))
    if algorithm == "iht" or options.swaps != "ranked":
        raise InvalidInputError("budgets are for algorithm='local_search' with swaps='ranked', and for algorithm='cd'.")
    wanted = as_budgets(budgets)
    problem = make_problem(X, y, **arguments_of(make_problem, settings))
    return compute_budgets(problem, wanted, options)


def compute_budgets(problem: Problem, wanted: Array, options: PathOptions, lambda_0: float = 0.0) -> Budgets:
    """Fit models within these (increasing) budgets to a validated problem; `lambda_0` is paid in addition."""
    if not problem.penalty.priced:
        sizes = np.floor(np.minimum(wanted * (1.0 + BUDGET_SLACK), problem.penalty.countable())).astype(np.int64)
        problem.require_room("budget", int(sizes[0]))
        found = compute_sizes(problem, np.unique(sizes), options)
        models = [min((m for m in found if m.size <= size), key=lambda m: m.objective_at(lambda_0)) for size in sizes]
        return Budgets(wanted, evaluated(problem, [model.coefficients for model in models], lambda_0 or None), problem)
    require_affordable(problem, float(wanted[0]))
    asked = options.for_budgets(tuple(wanted.tolist()), len(problem.y), paid=lambda_0)
    best = solve_path(problem, asked).models
    options.report(1.0, lambda_0, len(best[-1].support))
    return Budgets(wanted, evaluated(problem, map(problem.units.coefficients, best), lambda_0 or None), problem)


def as_budgets(budgets: Iterable[float] | float) -> Array:
    """Return the wanted budgets in increasing order, without repetition, after checking them."""
    try:
        listed = list(budgets) if isinstance(budgets, Iterable) else [budgets]
    except TypeError:
        raise InvalidInputError(f"budgets must hold numbers, got {budgets!r}.") from None
    if not listed:
        raise InvalidInputError("budgets must hold at least one number.")
    return np.unique([as_nonnegative("budgets", budget) for budget in listed])
