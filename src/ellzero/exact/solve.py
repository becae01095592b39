"""Find the best model there is, with its proof."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ellzero.base.signatures import passes_on
from ellzero.exact.options import ExactSettings, search_options
from ellzero.exact.search import asked_for, search_for
from ellzero.exact.solution import ExactSolution
from ellzero.problem.making import make_problem
from ellzero.problem.model import Model

if TYPE_CHECKING:
    from typing_extensions import Unpack


@passes_on(ExactSettings, make_problem, search_options)
def solve(
    X: object,
    y: ArrayLike,
    *,
    lambda_0: float | None = None,
    k: int | None = None,
    budget: float | None = None,
    warm_start: Model | ArrayLike | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **settings: Unpack[ExactSettings],
) -> ExactSolution:
    """Find the best model there is, with a proof of how close to the best it is.

    Minimises ``sum_i w_i f(eta_i, y_i) + lambda_0 ||beta||_0 + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2`` over all models,
    or over those with at most ``k`` features, or whose features cost at most ``budget`` together. With ``feature_cost``, the
    costs of a model's features take the place of their number ``||beta||_0``.

    Parameters
    ----------
    X, y, loss, huber_delta, lambda_1, lambda_2, fit_intercept, standardize, sample_weight, lower, upper, unpenalized,
    feature_cost, groups, feature_names, rules :
        The problem, as in :func:`fit_path`.
    lambda_0 : float
        What each feature pays: ``lambda_0``, or ``lambda_0 * feature_cost[j]``.
    k : int
        The largest number of features (not counting unpenalized ones).
    budget : float
        The largest sum of ``feature_cost`` over the features of the model, instead of ``k``. At least one of ``lambda_0``,
        ``k`` and ``budget`` must be given.
    method : {"bnb", "iga", "mip"}
        "bnb": branch and bound. "iga": the paper's integrality generation (Algorithm 4), which branches only on a set of
        features, at first those that local search finds, and grows the set while the relaxation of the others leaves a gap.
        "mip": the paper's formulation as a mixed integer program, given to a MIP solver unchanged.
    backend : {"builtin", "highs", "scip", "gurobi"}
        The solver: "builtin" for "bnb", any for "iga", a MIP solver for "mip" (``pip install 'ellzero[highs]'`` and so on).
        The lower bound of a MIP solver has to be trusted: ``solution.prover`` names the solver, and the certificate itself
        proves only the bound of the root.
    grow : int or share
        The set of "iga" grows by that many features at a time, those with the largest z; or, if ``grow`` is below one, by those
        whose z is at least ``grow``.
    bound : None, a number or "heuristic"
        None: only the penalties, ``lower`` and ``upper`` limit coefficients; the proof is unconditional.
        A number: ``|beta_j| <= bound`` is assumed of the features that pay lambda_0 (of the standardised ones with
        ``standardize``). "heuristic": 1.2 times the largest coefficient of the model that
        coordinate descent ("bnb") or local search finds, the paper's assumption.
        Small bounds make problems easier, and the certificate says that it rests on them. Without ``lambda_1`` and ``lambda_2``
        the loss itself limits the coefficients if X has full column rank, more rows than columns, and at most 2,000 columns:
        that is ordinary best-subset selection. With the losses of labels, the columns must not separate the classes either.
        Otherwise give ``lambda_1``, ``lambda_2``, or ``lower`` and ``upper`` of the columns that the error names.
    gap : float
        The search ends when ``(objective - lower_bound) / objective`` is at most this. Where the objective is less than 1e-9 of
        the null model's loss, and so may be rounding alone, the gap is relative to that loss. Units of X and y do not matter.
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
    progress : bool or function, optional
        Searches of more than two seconds show their gap: by default in a terminal or a notebook, with True everywhere. A
        function is called with a ``SearchProgress`` about ten times a second.

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
    asked = {"lambda_0": lambda_0, "k": k, "budget": budget, "checkpoint": checkpoint, **settings}
    return search_for(*asked_for(X, y, warm_start, asked)).solve()
