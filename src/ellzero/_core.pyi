"""The compiled core of ellzero."""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class Design:
    """Columns of X: borrowed from NumPy arrays, or kept by a Python object."""

    @property
    def shape(self) -> tuple: ...

    def moments(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> tuple:
        """Mean and variance of each column, for weights that sum to one."""

    def products(self, r: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """The products of all columns with each row of r, (sides, p)."""

    def columns(self, list: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """The listed columns in float64, one a row: (len(list), n)."""

@overload
def dense(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], stride: int) -> Design: ...

@overload
def dense(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], stride: int) -> Design: ...

@overload
def dense(x: Annotated[NDArray[numpy.int8], dict(shape=(None, None), device='cpu', writable=False)], stride: int) -> Design: ...

def stored(source: object, *, rows: int, columns: int, type: str, resident_bytes: int, column_bytes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Design: ...

@overload
def csc(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int) -> Design: ...

@overload
def csc(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int) -> Design: ...

@overload
def csc(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int) -> Design: ...

@overload
def csc(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int) -> Design: ...

class Problem:
    """
    X, y, the loss and the penalty but for lambda_0, in the solver's (standardised) scale.
    """

    def __init__(self, *, design: object, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], square: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: str, smoothing: float, mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, lambda_1: float, lambda_2: float, lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, unpenalized: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, intercept: bool, tolerance: float) -> None: ...

def evaluate_loss(loss: str, smoothing: float, eta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
    """
    sum_i w_i f(eta_i, y_i) and, per row, its first and second derivative: the core's own loss, for tests.
    """

curvature_safety: float = 1.001

def fit_path(problem: Problem, *, algorithm: str, swaps: str, q: int, first_improvement: bool, lambda_0: Sequence[float], sizes: Sequence[int], n_lambda: int, lambda_min_ratio: float, max_support: int, seeds: dict | None, sweep: bool, threads: int, progress: object | None, check: object | None) -> dict: ...

def hard_thresholding(problem: Problem, *, start: dict, lambda_0: float, size: int, threads: int) -> dict: ...

def coordinate_descent(problem: Problem, lambda_0: float, cycles: int) -> dict: ...

class WitnessLost(AssertionError):
    pass

class Search:
    """
    Branch and bound on one problem; it can be stopped, looked at and continued.
    """

    def __init__(self, problem: object, *, lambda_0: float, k: int, gap: float, free_bound: float, incumbent: dict, home: Sequence[int] | None = None, swap_size: int = 0, integral: Sequence[int] | None = None, threads: int) -> None: ...

    def branch_also_on(self, columns: Sequence[int]) -> None:
        """More features that may be branched on."""

    def branch_on_all(self) -> None:
        """Every feature may be branched on from now on."""

    def undecided_shares(self) -> tuple:
        """
        z of the best node that waits: the features of its relaxation that are not decided, and their shares.
        """

    def follow(self, witness: dict, objective: float) -> None:
        """Raise WitnessLost when a node that holds this solution is cut off."""

    def suggest(self, model: dict) -> None:
        """Another solution, which becomes the incumbent if it is better."""

    def start_from(self, other: Search) -> None:
        """Start the root's relaxation where that of another search ended."""

    def run(self, *, seconds: float, node_limit: int, report: object | None) -> str:
        """
        Work until finished or stopped; `report` is called about ten times a second.
        """

    def incumbent(self) -> dict: ...

    def tree(self) -> dict: ...

    def fixed_out(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """Features that the root proved to be in no better solution."""

    def snapshot(self) -> dict: ...

    def restore(self, snapshot: dict) -> None: ...

    @property
    def objective(self) -> float: ...

    @property
    def lower_bound(self) -> float: ...

    @property
    def nodes(self) -> int: ...

    @property
    def open(self) -> int: ...

    @property
    def passes(self) -> int: ...

    @property
    def newton_steps(self) -> int: ...

    @property
    def columns_left(self) -> int: ...

class Relaxations:
    """
    Convex relaxations of parts of one problem: some features in, some out, the others free.
    """

    def __init__(self, problem: object, *, lambda_0: float, k: int, free_bound: float, objective: float, home: Sequence[int] | None = None, swap_size: int = 0, excluded: Sequence[int], threads: int) -> None: ...

    def solve(self, *, inside: Sequence[int], outside: Sequence[int], enough: float) -> dict:
        """
        Until the bound is `enough` or known to be less: the bound, the dual point theta and the solution with its shares; only an infinite bound if nothing better than `objective` is there.
        """

    def refit(self, columns: Sequence[int]) -> dict:
        """The best model on these features."""
