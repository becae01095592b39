"""The options of paths and sizes: the grid, the algorithm, its tolerance and its limits."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import ProgressCallback, as_progress
from ellzero.base.validation import as_choice, as_count, as_grid, as_nonnegative, as_threads, if_given
from ellzero.problem.making import ProblemSettings
from ellzero.solvers.paths import PathOptions

ALGORITHMS = ("cd", "local_search", "iht")
EFFORTS = ("quick", "thorough")
SWAPS = ("ranked", "q_best", "exhaustive")
IMPROVEMENTS = ("best", "first")


class SolverSettings(TypedDict, total=False):
    """The arguments that control the algorithm of paths and sizes; `path_options` holds their defaults and checks them."""

    effort: str
    swaps: str
    q: int | None
    improvement: str
    tol: float
    n_jobs: int | None
    progress: bool | ProgressCallback


class PathSettings(ProblemSettings, SolverSettings, total=False):
    """The arguments of :func:`ellzero.fit_path` that other functions take as well."""


def path_options(
    *,
    lambda_0: ArrayLike | None = None,
    n_lambda: int = 100,
    lambda_min_ratio: float = 1e-3,
    max_support: int | None = None,
    algorithm: str = "cd",
    effort: str = "thorough",
    swaps: str = "ranked",
    q: int | None = None,
    improvement: str = "best",
    swap_size: int = 1,
    tol: float = 1e-6,
    n_jobs: int | None = None,
    progress: bool | ProgressCallback | None = None,
) -> PathOptions:
    """Check the arguments of a path, and return its options."""
    ratio = as_nonnegative("lambda_min_ratio", lambda_min_ratio)
    if not 0.0 < ratio <= 1.0:
        raise InvalidInputError(f"lambda_min_ratio must be above 0 and at most 1, got {lambda_min_ratio!r}.")
    tolerance = as_nonnegative("tol", tol)
    if not 0.0 < tolerance < 1.0:
        raise InvalidInputError(f"tol must be between 0 and 1, got {tol!r}.")
    check_algorithm(algorithm, swaps, q, improvement, swap_size)
    return PathOptions(
        lambda_0=np.zeros(0) if lambda_0 is None else as_grid("lambda_0", lambda_0),
        n_lambda=as_count("n_lambda", n_lambda, 1),
        lambda_min_ratio=ratio,
        max_support=if_given(as_count, "max_support", max_support, 0),
        algorithm=algorithm,
        effort=as_choice("effort", effort, EFFORTS),
        swaps=swaps,
        q=if_given(as_count, "q", q, 1),
        improvement=improvement,
        swap_size=swap_size,
        tol=tolerance,
        threads=as_threads(n_jobs),
        progress=as_progress(progress, "looking for models"),
    )


def check_algorithm(algorithm: str, swaps: str, q: int | None, improvement: str, swap_size: int) -> None:
    """Check the choice of the algorithm, and that the options of its swaps go together with it."""
    as_choice("algorithm", algorithm, ALGORITHMS)
    as_choice("swaps", swaps, SWAPS)
    as_choice("improvement", improvement, IMPROVEMENTS)
    if algorithm != "local_search" and (swaps != "ranked" or q is not None):
        raise InvalidInputError(f"swaps and q belong to algorithm='local_search', got algorithm={algorithm!r}.")
    if improvement != "best" and (algorithm != "local_search" or swaps == "ranked"):
        raise InvalidInputError("improvement belongs to swaps='q_best' and 'exhaustive' of algorithm='local_search'.")
    if as_count("swap_size", swap_size, 1) > 1 and algorithm != "local_search":
        raise InvalidInputError(f"swap_size belongs to algorithm='local_search', got algorithm={algorithm!r}.")
    if q is not None and swaps != "q_best":
        raise InvalidInputError(f"q is the number of candidates of swaps='q_best', got swaps={swaps!r}.")
