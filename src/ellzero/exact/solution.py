"""The result of an exact search: a solution with its proof."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ellzero.base.notebook import html_table
from ellzero.exact.binding import BindingRule, binding_rules
from ellzero.exact.certificate import Certificate
from ellzero.exact.options import SearchOptions
from ellzero.exact.search_log import SearchProgress
from ellzero.exact.status import Status
from ellzero.plots import SearchState, plot_bounds
from ellzero.problem.model import Model
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
NOTHING = 1e-9  # an objective that is at most this part of the null model's loss may be rounding alone


def relative_gap(objective: float, lower_bound: float, null: float) -> float:
    """Return the gap (U - L) / size_of(U) between an objective U, which is never negative, and a lower bound L."""
    if objective <= max(lower_bound, 0.0):
        return 0.0
    size = size_of(objective, null)
    return (objective - lower_bound) / size if size > 0.0 else np.inf


def size_of(objective: float, null: float) -> float:
    """Return the number that gaps are relative to: the objective or, if that is less or the objective is nothing beside it, the
    null model's loss.
    """
    return min(objective, null) if objective > NOTHING * null else null


@dataclass(frozen=True, eq=False, repr=False)
class ExactSolution:
    """The best solution found, how far from the best possible it can be, and the proof.

    Attributes
    ----------
    coef, intercept, support : the solution, on the scale of X
    objective : recomputed from the raw data
    lower_bound : no solution is better (under ``bound``, if one was assumed)
    gap : (objective - lower_bound) / objective; relative to the null model's loss where the objective is nothing beside it
    status : "optimal" (the proved gap is at most what was asked for), "time_limit", "node_limit", "interrupted", "precision"
        (nothing is left to search, but rounding keeps the proved gap above a very small one that was asked for), or "failed" (a
        MIP solver gave up: ``message`` says why, and the solution and the bound are those from before)
    nodes, seconds : of the search, and of the whole call
    bound : the assumed bound on |beta_j|, None if nothing was assumed
    swap_size : the lower bound holds for swaps of at most so many features (see :func:`improve`); None: for all models
    history : objective and lower bound over time, as a list of ``SearchProgress``; :meth:`to_frame` and :meth:`plot` show it
    message : the message of a MIP solver, if any
    model : the solution as a model that predicts
    certificate : the proof, for :func:`ellzero.verify`

    """

    certificate: Certificate
    nodes: int
    seconds: float
    history: list[SearchProgress] = field(default_factory=list)
    message: str = ""

    @property
    def model(self) -> Model:
        """The solution as a model that predicts."""
        return self.certificate.model

    @property
    def lower_bound(self) -> float:
        """The proved lower bound: no solution has a lower objective."""
        return self.certificate.claim.lower_bound

    @property
    def status(self) -> Status:
        """The way in which the search ended."""
        return self.certificate.claim.status

    @property
    def coef(self) -> Array:
        """All coefficients, dense, of shape (p,)."""
        return self.model.coef

    @property
    def intercept(self) -> float:
        """The intercept."""
        return self.model.intercept

    @property
    def support(self) -> NDArray[np.int32]:
        """Indices of the nonzero coefficients."""
        return self.model.support

    @property
    def objective(self) -> float:
        """The objective of the solution, recomputed from the raw data."""
        return self.certificate.claim.objective

    @property
    def gap(self) -> float:
        """The proved relative gap."""
        return relative_gap(self.objective, self.lower_bound, self.certificate.problem.null)

    @property
    def bound(self) -> float | None:
        """The assumed bound on |beta_j| (on the penalised scale)."""
        return self.certificate.claim.bound

    @property
    def swap_size(self) -> int | None:
        """The size of the swaps for which the lower bound holds, None if it holds for all models."""
        return self.certificate.claim.swap_size

    @property
    def prover(self) -> str | None:
        """The solver that the lower bound rests on, None if the certificate proves it."""
        return self.certificate.claim.prover

    def binding_rules(self) -> list[BindingRule]:
        """Find the rules that the solution pays for: each is left out, and local search looks for a better model.

        Returns
        -------
        list of BindingRule, the dearest first; a rule that is not in it costs nothing, as far as local search finds

        """
        claim = self.certificate.claim
        options = SearchOptions(lambda_0=claim.lambda_0, k=claim.k, budget=claim.budget)
        return binding_rules(self.certificate.problem, options, self.model)

    def to_frame(self) -> pd.DataFrame:
        """Return the history, one row per report, with the columns of ``SearchProgress``, as a pandas data frame."""
        pandas = need("pandas", "frame")

        columns = [column.name for column in fields(SearchProgress) if column.name != "models"]  # there is one
        return pandas.DataFrame([asdict(row) for row in self.history], columns=columns)

    def _repr_html_(self) -> str:
        first, second, *rest = repr(self).splitlines()
        return html_table(first, [], [], [second, *(line for line in rest if line.startswith("the bound"))]) + (
            self.model._repr_html_()
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot objective and lower bound over time, into `ax` if it is given (needs matplotlib)."""
        history = [
            SearchState(row.seconds, row.objective, row.lower_bound, row.iteration, row.integral) for row in self.history
        ]
        end = SearchState(self.seconds, self.objective, self.lower_bound)
        scope = "" if self.swap_size is None else f", swaps of at most {self.swap_size}"
        return plot_bounds(history, end, f"{self.status}, gap {100.0 * self.gap:.2g} %{scope}", ax)

    def __repr__(self) -> str:
        paper = (self.objective - self.lower_bound) / self.lower_bound if self.lower_bound > 0.0 else np.inf
        assumed = "" if not self.certificate.conditional else ", assuming bounded coefficients"
        over = "" if self.swap_size is None else f" over swaps of at most {self.swap_size}"
        usual = size_of(self.objective, self.certificate.problem.null) == self.objective
        of = "the objective" if usual else "the null model's loss"
        lines = [
            f"{self.status}{assumed}: objective {self.objective:.10g}, lower bound {self.lower_bound:.10g}{over}",
            f"gap {self.gap:.2e} of {of} ((UB - LB) / LB = {paper:.2e}), {self.nodes} nodes, {self.seconds:.2f} s",
        ]
        if self.prover is not None:
            lines.append(f"the bound is that of {self.prover}{': ' + self.message if self.message else ''}")
        return "\n".join([*lines, repr(self.model)])
