"""Proofs for all points of a path, for all sizes, or for all budgets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.notebook import html_table
from ellzero.exact.certificate import Claim
from ellzero.exact.incumbent import as_start
from ellzero.exact.options import SearchOptions, search_options
from ellzero.exact.search import Search
from ellzero.exact.search_log import SearchCallback
from ellzero.exact.solution import ExactSolution
from ellzero.paths.budgets import Budgets
from ellzero.paths.path import Path
from ellzero.paths.sizes import Sizes
from ellzero.plots import plot_certified
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class CertifiedPath:
    """A path, or a list of sizes or budgets, with a proof for each point.

    Attributes
    ----------
    solutions : list of ExactSolution, one per point
    lambda_0, k : (m,) the penalty or the size that each point was solved for; 0 and -1 where they do not apply
    budget : (m,) the budget that each point was solved for; infinite where there is none
    objective, lower_bound, gap : (m,)
    status : list of str

    """

    solutions: list[ExactSolution]

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, index: int) -> ExactSolution:
        return self.solutions[index]

    @property
    def lambda_0(self) -> Array:
        """The penalty of each point; zero for sizes."""
        return np.array([solution.certificate.claim.lambda_0 for solution in self.solutions])

    @property
    def k(self) -> NDArray[np.int64]:
        """The largest number of features of each point; -1 where there is no limit."""
        limits = [solution.certificate.claim.k for solution in self.solutions]
        return np.array([-1 if limit is None else limit for limit in limits], dtype=np.int64)

    @property
    def budget(self) -> Array:
        """The budget of each point; infinite where there is none."""
        limits = [solution.certificate.claim.budget for solution in self.solutions]
        return np.array([np.inf if limit is None else limit for limit in limits])

    @property
    def objective(self) -> Array:
        """The objective of each point, recomputed from the raw data."""
        return np.array([solution.objective for solution in self.solutions])

    @property
    def lower_bound(self) -> Array:
        """The proved lower bound of each point."""
        return np.array([solution.lower_bound for solution in self.solutions])

    @property
    def gap(self) -> Array:
        """The proved relative gap of each point."""
        return np.array([solution.gap for solution in self.solutions])

    @property
    def status(self) -> list[str]:
        """How the search of each point ended."""
        return [solution.status for solution in self.solutions]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per point, as a pandas data frame."""
        pandas = need("pandas", "frame")

        columns: dict[str, Any] = {
            "lambda_0": self.lambda_0,
            "k": self.k,
            **({"budget": self.budget} if np.isfinite(self.budget).any() else {}),
            "support_size": [len(solution.support) for solution in self.solutions],
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "status": self.status,
            "nodes": [solution.nodes for solution in self.solutions],
            "seconds": [solution.seconds for solution in self.solutions],
        }
        return pandas.DataFrame(columns)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot objective and proved lower bound of every point, into `ax` if it is given (needs matplotlib)."""
        by_size = bool((self.k >= 0).all())
        places = self.k.astype(np.float64) if by_size else self.lambda_0
        proved = np.array([status in ("optimal", "precision") for status in self.status], dtype=bool)
        return plot_certified(places, self.objective, self.lower_bound, proved, ax, by_size=by_size)

    def _points(self) -> list[tuple[str, ExactSolution]]:
        """Return what each point was solved for, in words, and its solution."""
        return [(point_in_words(solution.certificate.claim), solution) for solution in self.solutions]

    def _repr_html_(self) -> str:
        rows = [
            [
                point,
                str(len(solution.support)),
                f"{solution.objective:.8g}",
                f"{solution.lower_bound:.8g}",
                f"{solution.gap:.2e}",
                solution.status,
            ]
            for point, solution in self._points()
        ]
        header = ["size" if (self.k >= 0).all() else "lambda_0", "features", "objective", "lower bound", "gap", "status"]
        return html_table(f"certified path of {len(self)} points", header, rows)

    def __repr__(self) -> str:
        lines = [f"{'point':>12} {'features':>8} {'objective':>14} {'lower bound':>14} {'gap':>9}  status"]
        for point, solution in self._points():
            lines.append(
                f"{point:>12} {len(solution.support):8d} {solution.objective:14.8g} {solution.lower_bound:14.8g} "
                f"{solution.gap:9.2e}  {solution.status}"
            )
        return "\n".join(lines)


def certify_path(
    path: Path | Sizes | Budgets,
    *,
    bound: float | str | None = None,
    gap: float = 1e-4,
    time_limit: float | None = None,
    node_limit: int | None = None,
    n_jobs: int | None = None,
    progress: bool | SearchCallback | None = None,
) -> CertifiedPath:
    """Prove how good every model of a path (or of a list of sizes or budgets) is, and improve those that are not the best.

    Neighbours share their work: each search starts from the models of all points and from its neighbour's relaxation.

    Parameters
    ----------
    path : the result of :func:`fit_path`, :func:`fit_sizes` (sizes without ``max_norm``) or :func:`fit_budgets`
    bound, gap, node_limit, n_jobs, progress :
        As in :func:`solve`, for each point.
    time_limit : seconds for each point

    Returns
    -------
    CertifiedPath
        After Ctrl-C: the finished points, and the unfinished one with the bound proved so far.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(200, 60, 3, s=3.0, random_state=0)
    >>> proofs = ez.certify_path(ez.fit_sizes(X, y, [1, 2, 3], lambda_2=0.01))
    >>> proofs.k.tolist(), proofs.status
    ([1, 2, 3], ['optimal', 'optimal', 'optimal'])

    """
    common = search_options(
        bound=bound, gap=gap, time_limit=time_limit, node_limit=node_limit, n_jobs=n_jobs, progress=progress
    )
    if isinstance(path, Sizes):
        if path.max_norm is not None:
            raise InvalidInputError(
                "path must be a list of sizes without max_norm: no bound is proved under a norm constraint."
            )
        points = [replace(common, k=int(size)) for size in path.sizes]
    elif isinstance(path, Budgets):
        points = [replace(common, budget=float(budget)) for budget in path.budgets]
    elif isinstance(path, Path):
        points = [replace(common, lambda_0=float(value)) for value in path.lambda_0]
    else:
        raise InvalidInputError(f"path must be what fit_path, fit_sizes or fit_budgets returned, got {type(path).__name__}.")
    problem = path.problem
    models = [*path, *path.sized.values()] if isinstance(path, Path) else list(path)
    known = [as_start(problem, model, 0.0) for model in models]
    solutions: list[ExactSolution] = []
    search: Search | None = None
    for options in points:
        search = Search(problem, options, best_start(problem, known, options), heuristic=False, neighbour=search)
        solution = search.solve()
        solutions.append(solution)
        known.append(as_start(problem, solution.model, 0.0))
        if solution.status == "interrupted":
            break
    return CertifiedPath(solutions)


def best_start(problem: Problem, known: list[Model], options: SearchOptions) -> list[Model]:
    """Return the best of some models at one point, as a list; an empty one if all have too many features, or too dear ones."""
    allowed = [model for model in known if options.allows(model, problem)]
    if not allowed:
        return []
    return [as_start(problem, min(allowed, key=lambda model: model.objective_at(options.lambda_0)), options.lambda_0)]


def point_in_words(claim: Claim) -> str:
    """Return what a point was solved for: a number of features, a budget, or a price."""
    if claim.k is not None:
        return f"k = {claim.k}"
    return f"{claim.lambda_0:.6g}" if claim.budget is None else f"cost {claim.budget:.6g}"
