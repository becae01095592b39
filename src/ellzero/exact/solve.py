"""The exact solver's public face: one problem, or all points of a path."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.validation import as_count, as_nonnegative
from ellzero.exact.branch_and_bound import branch_and_bound
from ellzero.exact.methods import as_start, run_method, search_options
from ellzero.exact.search_log import SearchCallback
from ellzero.exact.setting import SearchOptions
from ellzero.exact.solution import ExactSolution
from ellzero.paths.path import Path
from ellzero.paths.sizes import Sizes
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem, make_problem

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CertifiedPath", "certify_path", "solve"]

Array = NDArray[np.float64]


def solve(
    X: object,
    y: ArrayLike,
    *,
    loss: str = "logistic",
    lambda_0: float | None = None,
    k: int | None = None,
    lambda_1: float = 0.0,
    lambda_2: float = 0.0,
    method: str = "bnb",
    backend: str = "builtin",
    grow: float = 10,
    bound: float | str | None = None,
    gap: float = 1e-4,
    time_limit: float | None = None,
    node_limit: int | None = None,
    warm_start: Model | ArrayLike | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    fit_intercept: bool = True,
    standardize: bool = False,
    sample_weight: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    unpenalized: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool | SearchCallback = False,
) -> ExactSolution:
    """The best model there is, with a proof of how close to the best it is.

    Minimises ``sum_i w_i f(eta_i, y_i) + lambda_0 ||beta||_0 + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2`` over all models,
    or over those with at most ``k`` features.

    Parameters
    ----------
    X, y, loss, lambda_1, lambda_2, fit_intercept, standardize, sample_weight, lower, upper, unpenalized :
        The problem, as in :func:`fit_path`.
    lambda_0 : float
        What each feature costs.
    k : int
        The largest number of features (not counting unpenalized ones). At least one of ``lambda_0`` and ``k`` must be given.
    method : {"bnb", "iga", "mip"}
        Branch and bound; the paper's integrality generation (Algorithm 4), which lets only a set of features, at first those of
        local search, be decided, and grows it while the relaxation of the others leaves a gap; or the paper's formulation as a
        mixed integer program, given to a MIP solver as it is.
    backend : {"builtin", "highs", "scip", "gurobi"}
        Who solves: "builtin" for "bnb", anyone for "iga", a MIP solver for "mip" (``pip install 'ellzero[highs]'`` and so
        on). With a MIP solver the lower bound is as good as its word: ``solution.prover`` names it, and the certificate itself
        proves only the bound of the root.
    grow : int or share
        The set of "iga" grows by so many features at a time, those with the largest z; or, if it is below one, by those with at
        least that z.
    bound : None, a number or "heuristic"
        None: coefficients are limited by nothing but the penalties and ``lower`` and ``upper``; the proof is unconditional.
        A number: ``|beta_j| <= bound`` is assumed of the features that lambda_0 counts (of the standardised ones with
        ``standardize``). "heuristic": 1.2 times the largest coefficient of the model that
        coordinate descent ("bnb") or local search finds, the paper's assumption.
        Small bounds make problems easier, and the certificate says that it rests on them. Without ``lambda_1`` and ``lambda_2``
        nothing else limits the coefficients, and one of the two must be given.
    gap : float
        The search ends when ``(objective - lower_bound) / |objective|`` is at most this.
    time_limit, node_limit : seconds and nodes, None for no limit
        The best solution and the lower bound so far are returned, with the status saying so. Ctrl-C does the same.
        Seconds count from when X has been checked and centred.
        ``node_limit`` and ``checkpoint`` are the built-in solver's.
    warm_start : Model or array of p coefficients, optional
        A solution to begin with; local search starts from it too.
    checkpoint : path, optional
        The search is written to this file now and then, and goes on from it if it is there. It is removed at the end.
    n_jobs : int, optional
        Threads, one if None. With one thread a search is deterministic.
    progress : bool or function
        True shows incumbent, bound, gap and nodes; a function is called with a ``SearchProgress`` about ten times a second.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(200, 100, 3, s=3.0, random_state=0)
    >>> solution = ez.solve(X, y, k=3, lambda_2=0.01)
    >>> solution.status, solution.support.tolist()
    ('optimal', [0, 33, 66])
    >>> report = ez.verify(solution.certificate, X, y)
    >>> report.valid, report.conditional, report.gap <= 1e-4
    (True, False, True)

    """
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
    if lambda_0 is None and k is None:
        raise InvalidInputError("lambda_0 or k must be given.")
    options = replace(
        search_options(
            method=method,
            backend=backend,
            grow=grow,
            bound=bound,
            gap=gap,
            time_limit=time_limit,
            node_limit=node_limit,
            checkpoint=checkpoint,
            n_jobs=n_jobs,
            progress=progress,
        ),
        lambda_0=0.0 if lambda_0 is None else as_nonnegative("lambda_0", lambda_0),
        k=None if k is None else as_count("k", k, 0),
    )
    starts = [] if warm_start is None else [as_start(problem, warm_start, options.lambda_0)]
    return run_method(problem, options, starts)


@dataclass(frozen=True, eq=False, repr=False)
class CertifiedPath:
    """A path or a list of sizes with a proof for each point.

    Attributes
    ----------
    solutions : list of ExactSolution, one per point
    lambda_0, k : (m,) what each point was solved for; 0 and -1 where it does not apply
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
    def objective(self) -> Array:
        """Recomputed from the raw data."""
        return np.array([solution.objective for solution in self.solutions])

    @property
    def lower_bound(self) -> Array:
        """What is proved at each point."""
        return np.array([solution.lower_bound for solution in self.solutions])

    @property
    def gap(self) -> Array:
        """The proved relative gaps."""
        return np.array([solution.gap for solution in self.solutions])

    @property
    def status(self) -> list[str]:
        """How each point ended."""
        return [solution.status for solution in self.solutions]

    def to_frame(self) -> pd.DataFrame:
        """One row per point, as a pandas data frame."""
        import pandas as pd

        columns: dict[str, Any] = {
            "lambda_0": self.lambda_0,
            "k": self.k,
            "support_size": [len(solution.support) for solution in self.solutions],
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "status": self.status,
            "nodes": [solution.nodes for solution in self.solutions],
            "seconds": [solution.seconds for solution in self.solutions],
        }
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        lines = [f"{'point':>12} {'features':>8} {'objective':>14} {'lower bound':>14} {'gap':>9}  status"]
        for solution in self.solutions:
            claim = solution.certificate.claim
            point = f"k = {claim.k}" if claim.k is not None else f"{claim.lambda_0:.6g}"
            lines.append(
                f"{point:>12} {len(solution.support):8d} {solution.objective:14.8g} {solution.lower_bound:14.8g} "
                f"{solution.gap:9.2e}  {solution.status}"
            )
        return "\n".join(lines)


def certify_path(
    path: Path | Sizes,
    *,
    bound: float | str | None = None,
    gap: float = 1e-4,
    time_limit: float | None = None,
    node_limit: int | None = None,
    n_jobs: int | None = None,
    progress: bool | SearchCallback = False,
) -> CertifiedPath:
    """Prove how good every model of a path (or of a list of sizes) is, and improve those that are not the best.

    Neighbours share their work: each search starts from the models of all points and from its neighbour's relaxation.

    Parameters
    ----------
    path : what :func:`fit_path` or :func:`fit_sizes` returned (sizes without ``max_norm``)
    bound, gap, node_limit, n_jobs, progress :
        As in :func:`solve`, for each point.
    time_limit : seconds for each point

    Returns
    -------
    CertifiedPath
        Ctrl-C ends it with the points that are done and the one it was at.

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
    elif isinstance(path, Path):
        points = [replace(common, lambda_0=float(value)) for value in path.lambda_0]
    else:
        raise InvalidInputError(f"path must be what fit_path or fit_sizes returned, got {type(path).__name__}.")
    problem = path.problem
    models = list(path) if isinstance(path, Sizes) else [*path, *path.sized.values()]
    costs = [as_start(problem, model, 0.0) for model in models]  # their objective is G, which no lambda_0 changes
    solutions: list[ExactSolution] = []
    neighbour = None
    for options in points:
        starts = best_start(problem, costs, options)
        solution, neighbour = branch_and_bound(problem, options, starts, neighbour, heuristic=False)
        solutions.append(solution)
        costs.append(as_start(problem, solution.model, 0.0))
        if solution.status == "interrupted":
            break
    return CertifiedPath(solutions)


def best_start(problem: Problem, costs: list[Model], options: SearchOptions) -> list[Model]:
    """The best of some models (whose objective is G) at one point; none if all have too many features."""
    sized = [(problem.counted(model.support), model) for model in costs]
    allowed = [
        (model.objective + options.lambda_0 * size, model) for size, model in sized if options.k is None or size <= options.k
    ]
    if not allowed:
        return []
    return [as_start(problem, min(allowed, key=lambda entry: entry[0])[1], options.lambda_0)]
