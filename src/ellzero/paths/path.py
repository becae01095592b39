"""The result of a path: models along a decreasing grid of lambda_0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero.base.notebook import html_table
from ellzero.base.validation import as_count
from ellzero.paths.by_size import ModelsBySize
from ellzero.paths.fitted_models import intercept_columns
from ellzero.plots import plot_path
from ellzero.problem.coefficients import Coefficients, coefficient_rows, squeezed
from ellzero.problem.model import Model, evaluated, make_model
from ellzero.problem.problem import Problem
from ellzero.problem.stationarity import SMALL
from ellzero.solvers.paths import PathOptions
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
PRICES = "objective = loss + lambda_0 * features (or their cost); the loss includes the terms of lambda_1 and lambda_2"


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Models along a decreasing grid of lambda_0.

    Attributes
    ----------
    lambda_0 : (m,) decreasing
    coef : (m, p) scipy.sparse CSR matrix, on the scale of X; of several outputs (m * outputs, p), those of a point together
    intercept : (m,), of several outputs (m, outputs)
    cost : (m,) G, the objective without its lambda_0 term, recomputed from the raw data
    objective : (m,) P = cost + lambda_0 * spent
    support_size : (m,) number of nonzero coefficients that pay lambda_0
    spent : (m,) sum of the costs of these features: their number, without `feature_cost`
    converged : (m,) bool, whether no coordinate step improves the model (Theorem 1, see :func:`check_stationarity`); False
        if rounding kept a fit from its tolerance (rare), and for many fixed points of iterative hard thresholding
    lambda_1, lambda_2 : the other penalties
    reads : how much of X was read, in units of the whole X
    problem : the data and settings; it keeps a reference to X and y
    options : the options that the path was computed with
    by_size : the best model known of each size

    """

    lambda_0: Array
    coef: sparse.csr_matrix
    intercept: Array
    cost: Array
    support_size: NDArray[np.int64]
    converged: NDArray[np.bool_]
    reads: float
    problem: Problem
    options: PathOptions
    by_size: ModelsBySize

    @property
    def objective(self) -> Array:
        """The objective P of each model, at its lambda_0."""
        return self.cost + self.lambda_0 * self.spent

    @cached_property
    def spent(self) -> Array:
        """The sum of the costs of each model's features: their number, without `feature_cost`."""
        starts = self.coef.indptr[:: self.problem.outputs].tolist()
        return np.array([self.problem.penalty.spent(np.unique(self.coef.indices[a:b])) for a, b in pairwise(starts)])

    @property
    def sized(self) -> dict[int, Model]:
        """The best model known of each size, by size; `at_support` adds to it."""
        return self.by_size.models

    @property
    def lambda_1(self) -> float:
        """The weight of the l1 norm."""
        return self.problem.penalty.lambda_1

    @property
    def lambda_2(self) -> float:
        """The weight of the squared l2 norm."""
        return self.problem.penalty.lambda_2

    def __len__(self) -> int:
        return len(self.lambda_0)

    def __getitem__(self, index: int) -> Model:
        """Return the model at one lambda_0."""
        m = len(self)
        if not isinstance(index, (int, np.integer)):
            raise TypeError(f"the index of a path must be an integer, got {index!r}.")
        if not -m <= index < m:
            raise IndexError(f"the path has {m} points, index {index} is outside.")
        index %= m
        at = self._coefficients(index)
        return make_model(
            self.problem,
            at,
            cost=float(self.cost[index]),
            lambda_0=float(self.lambda_0[index]),
            objective=float(self.objective[index]),
        )

    def _coefficients(self, index: int) -> Coefficients:
        """Return the solution at one point, whose rows of `coef` follow each other."""
        outputs = self.problem.outputs
        starts = self.coef.indptr[index * outputs : (index + 1) * outputs + 1]
        support, places = np.unique(self.coef.indices[starts[0] : starts[-1]], return_inverse=True)
        values = np.zeros((len(support), outputs))
        values[places, np.repeat(np.arange(outputs), np.diff(starts))] = self.coef.data[starts[0] : starts[-1]]
        return Coefficients(support, values, np.atleast_1d(self.intercept[index]))

    def __iter__(self) -> Iterator[Model]:
        return (self[index] for index in range(len(self)))

    def at_support(self, k: int) -> Model:
        """Return the best model known with exactly `k` features (not counting unpenalized ones).

        Unless X is very large, or not in memory, local search tries to improve the model of coordinate descent. Sizes between
        those of ``support_size`` are known too. Larger ones are fitted when you request them, from the path's models and by
        the path's algorithm; for many sizes at once, use :func:`fit_sizes`.
        """
        return self.by_size.at(as_count("k", k, 0))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per lambda_0, as a pandas data frame."""
        pandas = need("pandas", "frame")

        columns: dict[str, Any] = {
            "lambda_0": self.lambda_0,
            "support_size": self.support_size,
            "objective": self.objective,
            **intercept_columns(self.problem, self.intercept),
            "converged": self.converged,
        }
        return pandas.DataFrame({**columns, "spent": self.spent} if self.problem.penalty.priced else columns)

    def plot(self, ax: Axes | None = None, *, standardized: bool = True) -> Axes:
        """Plot the coefficients against lambda_0, with the model size above, into `ax` if it is given (needs matplotlib).

        Coefficients are per standard deviation, so that they can be compared; ``standardized=False`` shows them on the scale
        of X. With several outputs, the size of a feature's largest coefficient is shown.
        """
        coef, quantity = self.coef, "coefficient"
        if standardized:
            coef = coef @ sparse.diags(self.problem.column_spread(np.arange(coef.shape[1], dtype=np.int32)))
            quantity = "effect of one standard deviation"
        if self.problem.outputs > 1:
            coef, quantity = largest_of_outputs(coef.tocsr(), self.problem.outputs), f"largest {quantity}"
        names = self.problem.design.names
        return plot_path(self.lambda_0, coef.tocsr(), self.support_size, names, ax, quantity=quantity)

    def _heading(self) -> str:
        """Return the path in a line."""
        return (
            f"{self.problem.loss.name} path: {len(self)} points, {self.problem.design.shape[0]} rows, "
            f"{self.problem.design.shape[1]} features, lambda_1 = {self.lambda_1:g}, lambda_2 = {self.lambda_2:g}"
        )

    def _repr_html_(self) -> str:
        points = zip(self.lambda_0, self.support_size, self.cost, self.objective, self.converged, strict=True)
        rows = [
            [f"{price:.6g}", str(size), f"{cost:.8g}", f"{value:.8g}", "yes" if converged else "no"]
            for price, size, cost, value, converged in points
        ]
        return html_table(self._heading(), ["lambda_0", "features", "loss", "objective", "converged"], rows, [PRICES])

    def __repr__(self) -> str:
        priced = self.problem.penalty.priced
        shown = range(len(self)) if len(self) <= 12 else [*range(6), -1, *range(len(self) - 5, len(self))]
        lines = [
            self._heading(),
            f"{'lambda_0':>12} {'features':>9} {'loss':>14} {'objective':>14}" + (f" {'cost':>12}" if priced else ""),
        ]
        for k in shown:
            lines.append(
                f"{'...':>12}"
                if k < 0
                else f"{self.lambda_0[k]:12.6g} {self.support_size[k]:9d} {self.cost[k]:14.8g} {self.objective[k]:14.8g}"
                + (f" {self.spent[k]:12.6g}" if priced else "")
                + ("" if self.converged[k] else "  (not converged)")
            )
        return "\n".join([*lines, PRICES])


def largest_of_outputs(coef: sparse.csr_matrix, outputs: int) -> sparse.csr_matrix:
    """Return the size of the largest coefficient of each column; each point has a row for each output."""
    largest = abs(coef[::outputs])
    for output in range(1, outputs):
        largest = largest.maximum(abs(coef[output::outputs]))
    return largest


def make_path(problem: Problem, options: PathOptions, found: _core.PathResult) -> Path:
    """Make a path on the user's scale from the core's result, with every cost recomputed from the raw data."""
    models = found.models
    # Neighbouring points often share a model, which is looked at once.
    keys = [(model.support.tobytes(), model.beta.tobytes(), model.intercept.tobytes()) for model in models]
    distinct = {key: problem.units.coefficients(model) for key, model in dict(zip(keys, models, strict=True)).items()}
    known = dict(zip(distinct, evaluated(problem, distinct.values()), strict=True))
    rows = [distinct[key] for key in keys]
    cost = np.array([known[key].cost for key in keys])
    options = replace(options, progress=None)
    # A model that is next to a solution loses that where the change of scale loses its digits: where a column held away from
    # zero adds a huge constant, say, that the intercept cannot make up for.
    core_cost = np.array([model.cost for model in models]) * problem.units.cost
    kept = cost <= core_cost + options.tol * np.maximum(core_cost, SMALL * problem.null)
    return Path(
        lambda_0=found.lambda_0,
        coef=coefficient_rows(rows, problem.design.shape[1]),
        intercept=squeezed(np.array([at.intercept for at in rows]).reshape(len(rows), problem.outputs)),
        cost=cost,
        support_size=np.array([problem.penalty.counted(at.support) for at in rows], dtype=np.int64),
        converged=np.array([model.converged for model in models], dtype=bool) & kept,
        reads=found.reads,
        problem=problem,
        options=options,
        by_size=ModelsBySize(problem, options, found.by_size),
    )
