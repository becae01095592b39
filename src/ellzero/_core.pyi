"""The compiled core of ellzero."""

from collections.abc import Sequence
import enum
from typing import Annotated, Final, overload

import numpy
from numpy.typing import NDArray


class Design:
    """Columns of X: borrowed from NumPy arrays, or kept by a Python object."""

    @property
    def shape(self) -> tuple: ...

    def moments(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> tuple:
        """Mean and variance of each column, for weights that sum to one."""

    def couplings(self, heads: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        For each column, a factor by which the diagonal of its group's part of Z'WZ bounds that part.
        """

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

def stacked(design: object, mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, *, outputs: int, coupled: bool) -> Design:
    """
    Several outputs on the same columns, centred and scaled, as one design.
    """

@overload
def csc(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int) -> Design: ...

@overload
def csc(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int) -> Design: ...

@overload
def csc(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int) -> Design: ...

@overload
def csc(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int) -> Design: ...

class LossKind(enum.Enum):
    logistic = 0

    squared_hinge = 1

    hinge = 2

    squared_error = 3

    huber = 4

    multinomial = 5

class Groups:
    """
    Columns that come in together, by the first column of each one's group, its head.
    """

    def __init__(self, heads: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class Rule:
    """
    If `feature` is in (always, if it is -1), at least `low` and at most `high` members are in.
    """

    def __init__(self, feature: int, low: int, high: int, members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class Problem:
    """
    X, y, the loss and the penalty but for lambda_0, in the solver's (standardised) scale.
    """

    def __init__(self) -> None: ...

    @property
    def design(self) -> object: ...

    @design.setter
    def design(self, arg: object, /) -> None: ...

    @property
    def y(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None: ...

    @y.setter
    def y(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, /) -> None: ...

    @property
    def w(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None:
        """Sample weights that sum to one for each output."""

    @w.setter
    def w(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, /) -> None: ...

    @property
    def square(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None:
        """sum_i w_i z_ij^2 of each column as the solver sees it."""

    @square.setter
    def square(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, /) -> None: ...

    @property
    def mean(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None:
        """Of each column; None: columns are not centred."""

    @mean.setter
    def mean(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, /) -> None: ...

    @property
    def scale(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None:
        """Factor of each column; None: columns are not scaled."""

    @scale.setter
    def scale(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, /) -> None: ...

    @property
    def lower(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None:
        """Of the coefficient of each column."""

    @lower.setter
    def lower(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, /) -> None: ...

    @property
    def upper(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None: ...

    @upper.setter
    def upper(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, /) -> None: ...

    @property
    def prices(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None:
        """
        A feature pays lambda_0 times its price, and is always in if that is zero.
        """

    @prices.setter
    def prices(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, /) -> None: ...

    @property
    def groups(self) -> Groups:
        """At first, every column is a group of its own."""

    @groups.setter
    def groups(self, arg: Groups, /) -> None: ...

    @property
    def rules(self) -> list[Rule]:
        """Which features may, or must, be in together; by the heads of groups."""

    @rules.setter
    def rules(self, arg: Sequence[Rule], /) -> None: ...

    @property
    def loss(self) -> LossKind: ...

    @loss.setter
    def loss(self, arg: LossKind, /) -> None: ...

    @property
    def smoothing(self) -> float:
        """The width tau of the smoothed hinge."""

    @smoothing.setter
    def smoothing(self, arg: float, /) -> None: ...

    @property
    def delta(self) -> float:
        """Huber's loss is linear beyond it, in the unit of y."""

    @delta.setter
    def delta(self, arg: float, /) -> None: ...

    @property
    def lambda_1(self) -> float: ...

    @lambda_1.setter
    def lambda_1(self, arg: float, /) -> None: ...

    @property
    def lambda_2(self) -> float: ...

    @lambda_2.setter
    def lambda_2(self, arg: float, /) -> None: ...

    @property
    def tolerance(self) -> float:
        """Relative, of the objective."""

    @tolerance.setter
    def tolerance(self, arg: float, /) -> None: ...

    @property
    def intercept(self) -> bool: ...

    @intercept.setter
    def intercept(self, arg: bool, /) -> None: ...

    @property
    def heavy(self) -> float:
        """
        The label of a class beside which the other weighs nothing, 0 if none does.
        """

    @heavy.setter
    def heavy(self, arg: float, /) -> None: ...

def evaluate_loss(loss: LossKind, smoothing: float, eta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], outputs: int = 1, delta: float = 1.0) -> tuple:
    """
    sum_i w_i f(eta_i, y_i) and, per row, its first and second derivative: the core's own loss, for tests.
    """

curvature_safety: float = 1.001

class Model:
    """
    Coefficients on a support, in the solver's (standardised) scale, and their cost.
    """

    @overload
    def __init__(self) -> None: ...

    @overload
    def __init__(self, other: Model) -> None:
        """A copy."""

    @property
    def cost(self) -> float:
        """G: the loss with the l1 and l2 terms, without lambda_0."""

    @cost.setter
    def cost(self, arg: float, /) -> None: ...

    @property
    def size(self) -> int:
        """Features that pay for coming in."""

    @size.setter
    def size(self, arg: int, /) -> None: ...

    @property
    def spent(self) -> float:
        """The sum of their prices."""

    @spent.setter
    def spent(self, arg: float, /) -> None: ...

    @property
    def converged(self) -> bool: ...

    @converged.setter
    def converged(self, arg: bool, /) -> None: ...

    def __getstate__(self) -> tuple[list[int], list[float], list[float], float, int, float, bool]: ...

    def __setstate__(self, arg: tuple[Sequence[int], Sequence[float], Sequence[float], float, int, float, bool], /) -> None: ...

    @property
    def support(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @support.setter
    def support(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def beta(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @beta.setter
    def beta(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def intercept(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @intercept.setter
    def intercept(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

class Algorithm(enum.Enum):
    cd = 1

    local_search = 2

    iht = 0

class Effort(enum.Enum):
    quick = 0

    thorough = 1

class SwapRule(enum.Enum):
    ranked = 0

    q_best = 1

    exhaustive = 2

class Improvement(enum.Enum):
    best = 0

    first = 1

class PathOptions:
    """The options of a path, or of models of given sizes."""

    def __init__(self) -> None: ...

    @property
    def algorithm(self) -> Algorithm: ...

    @algorithm.setter
    def algorithm(self, arg: Algorithm, /) -> None: ...

    @property
    def effort(self) -> Effort: ...

    @effort.setter
    def effort(self, arg: Effort, /) -> None: ...

    @property
    def swaps(self) -> SwapRule: ...

    @swaps.setter
    def swaps(self, arg: SwapRule, /) -> None: ...

    @property
    def q(self) -> int: ...

    @q.setter
    def q(self, arg: int, /) -> None: ...

    @property
    def improvement(self) -> Improvement: ...

    @improvement.setter
    def improvement(self, arg: Improvement, /) -> None: ...

    @property
    def sizes(self) -> list[int]: ...

    @sizes.setter
    def sizes(self, arg: Sequence[int], /) -> None: ...

    @property
    def paid(self) -> float:
        """lambda_0 beside budgets."""

    @paid.setter
    def paid(self, arg: float, /) -> None: ...

    @property
    def n_lambda(self) -> int: ...

    @n_lambda.setter
    def n_lambda(self, arg: int, /) -> None: ...

    @property
    def lambda_min_ratio(self) -> float: ...

    @lambda_min_ratio.setter
    def lambda_min_ratio(self, arg: float, /) -> None: ...

    @property
    def max_support(self) -> int: ...

    @max_support.setter
    def max_support(self, arg: int, /) -> None: ...

    @property
    def sweep(self) -> bool: ...

    @sweep.setter
    def sweep(self, arg: bool, /) -> None: ...

    @property
    def seeds(self) -> list[Model]: ...

    @seeds.setter
    def seeds(self, arg: Sequence[Model], /) -> None: ...

    @property
    def lambda_0(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @lambda_0.setter
    def lambda_0(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def budgets(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @budgets.setter
    def budgets(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

class PathResult:
    """Models along lambda_0, and the best one seen of each size."""

    @property
    def models(self) -> list[Model]:
        """One for each lambda_0, or for each budget."""

    @models.setter
    def models(self, arg: Sequence[Model], /) -> None: ...

    @property
    def by_size(self) -> list[Model]:
        """In the order of their size."""

    @by_size.setter
    def by_size(self, arg: Sequence[Model], /) -> None: ...

    @property
    def reads(self) -> float:
        """Reads of X, in units of all of X."""

    @reads.setter
    def reads(self, arg: float, /) -> None: ...

    @property
    def stopped(self) -> BaseException | None:
        """
        The exception that ended the work early, Ctrl-C included, if there was a `check`; `models` is empty then.
        """

    @property
    def lambda_0(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @lambda_0.setter
    def lambda_0(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

def fit_path(problem: Problem, options: PathOptions, sample: Problem | None, *, threads: int, progress: object | None, check: object | None) -> PathResult: ...

class Thresholded:
    """A fixed point of hard thresholding."""

    @property
    def model(self) -> Model: ...

    @property
    def step_curvature(self) -> float:
        """L_hat of the steps."""

class Cycles:
    """The result of plain coordinate descent, and its moving steps."""

    @property
    def model(self) -> Model: ...

    @property
    def column(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @column.setter
    def column(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def change(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @change.setter
    def change(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def objective(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @objective.setter
    def objective(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

def hard_thresholding(problem: Problem, *, start: Model, lambda_0: float, size: int, threads: int) -> Thresholded: ...

def coordinate_descent(problem: Problem, lambda_0: float, cycles: int) -> Cycles: ...

class Tree:
    """The tree as a certificate tells it: one entry per node, parents first."""

    def __init__(self) -> None: ...

    @property
    def row(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        The place of each node's dual point among all of them, -1 if it has none.
        """

    @property
    def precise(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        |theta_i| / w_i of all dual points without a model, if some have all their digits.
        """

    @property
    def point_diagonal(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The diagonal that each dual point uses, -1 if none."""

    @property
    def model_scale(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The part of its model's slopes that each dual point is."""

    @property
    def model_ends(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The place where the model of each dual point ends."""

    def set_points(self, row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], precise: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], point_diagonal: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], model_scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], model_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], model_values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], model_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], model_intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def shares(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,))]:
        """The same in parts of 2^15, of those that are rounded."""

    @property
    def model_columns(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The columns of the models of all dual points."""

    @property
    def model_values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Their coefficients."""

    @property
    def model_intercept(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Their intercepts, one for each output."""

    @property
    def parent(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @parent.setter
    def parent(self, arg: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def branch(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @branch.setter
    def branch(self, arg: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def side(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None,))]: ...

    @side.setter
    def side(self, arg: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def block_members(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @block_members.setter
    def block_members(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def block_ends(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @block_ends.setter
    def block_ends(self, arg: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def diagonal_members(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @diagonal_members.setter
    def diagonal_members(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def diagonal_ends(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @diagonal_ends.setter
    def diagonal_ends(self, arg: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def diagonal_values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @diagonal_values.setter
    def diagonal_values(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def enumerated(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The nodes of which the last features are enumerated, ascending."""

    @property
    def form_members(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The columns of all forms."""

    @property
    def form_masses(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Their masses."""

    @property
    def form_along(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Their directions, zero of columns that are alone."""

    @property
    def form_ridges(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The parts of their ridges that the forms take."""

    @property
    def form_family(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """Their families."""

    @property
    def form_rest(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The masses at zero of all families."""

    @property
    def form_ends(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The place where each form ends."""

    @property
    def rest_ends(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The place where the masses at zero of each form end."""

    @property
    def gram_node(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The nodes that have a bound with families."""

    @property
    def gram_form(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The form of each."""

    @property
    def gram_ends(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The place where its coefficients end."""

    @property
    def gram_columns(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The columns of these coefficients."""

    @property
    def gram_values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Their values."""

class State:
    """The region and the start that a node leaves to its children."""

    def __init__(self) -> None: ...

    @property
    def mu(self) -> float: ...

    @mu.setter
    def mu(self, arg: float, /) -> None: ...

    @property
    def outside(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """Column j is bit j % 64 of word j / 64."""

    @outside.setter
    def outside(self, arg: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def boxes(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Rows of column, low, high."""

    @boxes.setter
    def boxes(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def diagonal(self) -> int:
        """
        The number of its diagonal, -1 if it has none; a search that is restored looks it up in the tree.
        """

    @diagonal.setter
    def diagonal(self, arg: int, /) -> None: ...

    @property
    def tried(self) -> int:
        """Columns when a diagonal was made last."""

    @tried.setter
    def tried(self, arg: int, /) -> None: ...

    @property
    def clause_members(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @clause_members.setter
    def clause_members(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def clause_ends(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @clause_ends.setter
    def clause_ends(self, arg: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def charges(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @charges.setter
    def charges(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def columns(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @columns.setter
    def columns(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def beta(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @beta.setter
    def beta(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def intercept(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @intercept.setter
    def intercept(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def shares(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

    @shares.setter
    def shares(self, arg: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def alpha(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

    @alpha.setter
    def alpha(self, arg: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def near(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @near.setter
    def near(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

class Node:
    """An open node: its parent's state and one decision."""

    def __init__(self) -> None: ...

    @property
    def id(self) -> int: ...

    @id.setter
    def id(self, arg: int, /) -> None: ...

    @property
    def depth(self) -> int: ...

    @depth.setter
    def depth(self, arg: int, /) -> None: ...

    @property
    def bound(self) -> float: ...

    @bound.setter
    def bound(self, arg: float, /) -> None: ...

    @property
    def state(self) -> State: ...

    @state.setter
    def state(self, arg: State, /) -> None: ...

    @property
    def block(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The features that were decided, none at the root."""

    @block.setter
    def block(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def inside(self) -> bool: ...

    @inside.setter
    def inside(self, arg: bool, /) -> None: ...

    @property
    def dives(self) -> bool: ...

    @dives.setter
    def dives(self, arg: bool, /) -> None: ...

    @property
    def waits(self) -> bool: ...

    @waits.setter
    def waits(self, arg: bool, /) -> None: ...

class Snapshot:
    """Everything that a later process needs to go on with a search."""

    def __init__(self) -> None: ...

    @property
    def incumbent(self) -> Model: ...

    @incumbent.setter
    def incumbent(self, arg: Model, /) -> None: ...

    @property
    def tree(self) -> Tree: ...

    @tree.setter
    def tree(self, arg: Tree, /) -> None: ...

    @property
    def boxes(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Rows of low, high: the root's boxes, in the numbering of the nodes."""

    @boxes.setter
    def boxes(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def open(self) -> list[Node]: ...

    @open.setter
    def open(self, arg: Sequence[Node], /) -> None: ...

    @property
    def closed(self) -> float:
        """The least bound of closed leaves."""

    @closed.setter
    def closed(self, arg: float, /) -> None: ...

    @property
    def nodes_done(self) -> int: ...

    @nodes_done.setter
    def nodes_done(self, arg: int, /) -> None: ...

    @property
    def picks(self) -> int: ...

    @picks.setter
    def picks(self, arg: int, /) -> None: ...

    @property
    def rooted(self) -> bool: ...

    @rooted.setter
    def rooted(self, arg: bool, /) -> None: ...

    @property
    def columns(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @columns.setter
    def columns(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

class WitnessLost(AssertionError):
    pass

class SearchOptions:
    """The exact problem beside its data, and how closely it is solved."""

    def __init__(self) -> None: ...

    @property
    def lambda_0(self) -> float: ...

    @lambda_0.setter
    def lambda_0(self, arg: float, /) -> None: ...

    @property
    def k(self) -> int:
        """At most so many features."""

    @k.setter
    def k(self, arg: int, /) -> None: ...

    @property
    def budget(self) -> float:
        """Their prices sum to at most that."""

    @budget.setter
    def budget(self, arg: float, /) -> None: ...

    @property
    def gap(self) -> float:
        """Relative."""

    @gap.setter
    def gap(self, arg: float, /) -> None: ...

    @property
    def narrow(self) -> bool:
        """All boxes are narrowed at the root."""

    @narrow.setter
    def narrow(self, arg: bool, /) -> None: ...

    @property
    def null(self) -> float:
        """The null model's loss."""

    @null.setter
    def null(self, arg: float, /) -> None: ...

    @property
    def free_bound(self) -> float:
        """Assumed of unpenalized features that nothing else holds."""

    @free_bound.setter
    def free_bound(self, arg: float, /) -> None: ...

    @property
    def home(self) -> list[int] | None:
        """The features that swaps start from; None: all solutions."""

    @home.setter
    def home(self, arg: Sequence[int] | None, /) -> None: ...

    @property
    def swap_size(self) -> int:
        """Features that may leave the home, and that may come."""

    @swap_size.setter
    def swap_size(self, arg: int, /) -> None: ...

    @property
    def integral(self) -> list[int] | None:
        """Features that may be branched on; None: all."""

    @integral.setter
    def integral(self, arg: Sequence[int] | None, /) -> None: ...

    @property
    def diagonals(self) -> bool:
        """Whether curvature of the squared error may move into the ridge."""

    @diagonals.setter
    def diagonals(self, arg: bool, /) -> None: ...

    @property
    def families(self) -> bool:
        """Whether nodes may be solved with the normal equations."""

    @families.setter
    def families(self, arg: bool, /) -> None: ...

    @property
    def alike(self) -> float | None:
        """
        Features with at least this correlation are decided together; above one: none are; None: as the core decides.
        """

    @alike.setter
    def alike(self, arg: float | None, /) -> None: ...

    @property
    def wanted(self) -> Wanted: ...

    @wanted.setter
    def wanted(self, arg: Wanted, /) -> None: ...

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

class Wanted:
    """
    The models that a search looks for: the best one, or all up to a level.
    """

    def __init__(self) -> None: ...

    @property
    def all(self) -> bool: ...

    @all.setter
    def all(self, arg: bool, /) -> None: ...

    @property
    def level(self) -> float: ...

    @level.setter
    def level(self, arg: float, /) -> None: ...

    @property
    def within(self) -> float:
        """The level, above the best objective and relative to it."""

    @within.setter
    def within(self, arg: float, /) -> None: ...

    @property
    def count(self) -> int:
        """The level is that of the so many-th best support, at most."""

    @count.setter
    def count(self, arg: int, /) -> None: ...

    @property
    def most(self) -> int:
        """A run ends when it has found more."""

    @most.setter
    def most(self, arg: int, /) -> None: ...

    equal: Final[float] = ...
    """Objectives that differ by less, relatively, count as equal."""

    nothing: Final[float] = ...
    """Features that gain less are not looked at one by one."""

class SearchStatus(enum.Enum):
    finished = 0
    """The tree has no open node."""

    time_limit = 1

    node_limit = 2

    relaxed = 3
    """Only nodes that wait for more features to branch on are left."""

    improved = 4
    """A long search found a model that is good enough."""

    too_many = 5
    """There are more models than may be listed."""

budget_slack: float = 1e-12

def curvature_holds(problem: object, threads: int, report: object | None) -> bool:
    """Whether the curvature of the loss alone holds all coefficients."""

def find_growth(problem: object, columns: Sequence[int], threads: int, report: object | None) -> tuple:
    """
    A dual point and a diagonal that prove that the loss of labels grows with the coefficients of some columns: alpha and the entries. Both are empty if none were found, and the last number is a column that is a combination of others, or -1.
    """

class Search:
    """
    Branch and bound on one problem; it can be stopped, looked at and continued.
    """

    def __init__(self, problem: object, options: SearchOptions, incumbent: Model) -> None: ...

    def branch_also_on(self, columns: Sequence[int]) -> None:
        """More features that may be branched on."""

    def branch_on_all(self) -> None:
        """Every feature may be branched on from now on."""

    def undecided_shares(self) -> tuple:
        """
        z of the best node that waits: the features of its relaxation that are not decided, and their shares.
        """

    def follow(self, witness: Model, objective: float) -> None:
        """Raise WitnessLost when a node that holds this solution is cut off."""

    def suggest(self, model: Model) -> None:
        """Another solution, which becomes the incumbent if it is better."""

    def start_from(self, other: Search) -> None:
        """Start the root's relaxation where that of another search ended."""

    def run(self, *, seconds: float, node_limit: int, enough: float = float('-inf'), in_turn: bool = False, report: object | None) -> SearchStatus:
        """
        Work until finished or stopped, or long and with a model below `enough`; nodes `in_turn`, each by all threads, make the result independent of these. `report` is called about ten times a second.
        """

    def incumbent(self) -> Model: ...

    def listed(self) -> list:
        """
        Node, support and best model of the leaves that are wanted, and whether it needs all of it.
        """

    def tree(self) -> Tree: ...

    def fixed_out(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """Features that the root proved to be in no better solution."""

    def snapshot(self) -> Snapshot: ...

    def restore(self, snapshot: Snapshot) -> None: ...

    @property
    def objective(self) -> float: ...

    @property
    def level(self) -> float:
        """Models up to this objective are looked for."""

    @property
    def lower_bound(self) -> float: ...

    @property
    def models(self) -> int:
        """How many models that are wanted are found."""

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

class Relaxed:
    """A relaxation's bound, dual point theta and solution with its shares."""

    @property
    def bound(self) -> float:
        """Infinite if nothing better than the known objective is there."""

    @property
    def mu(self) -> float: ...

    @property
    def theta(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @theta.setter
    def theta(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def intercept(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @intercept.setter
    def intercept(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def columns(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @columns.setter
    def columns(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def beta(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @beta.setter
    def beta(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def shares(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @shares.setter
    def shares(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

class Relaxations:
    """
    Convex relaxations of parts of one problem: some features in, some out, the others undecided.
    """

    def __init__(self, problem: object, options: SearchOptions, *, objective: float, excluded: Sequence[int]) -> None: ...

    def solve(self, *, inside: Sequence[int], outside: Sequence[int], enough: float) -> Relaxed:
        """Solve until the bound is `enough` or known to be less."""

    def refit(self, columns: Sequence[int]) -> Model:
        """The best model on these features."""

class Card:
    """Points for some columns, with scale and intercept."""

    @property
    def support(self) -> list[int]: ...

    @property
    def points(self) -> list[int]: ...

    @property
    def scale(self) -> float: ...

    @property
    def intercept(self) -> float: ...

    @property
    def loss(self) -> float:
        """Infinite: there is none."""

class Boxes:
    """A partition of the points of a support, each part with a model."""

    @property
    def low(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @low.setter
    def low(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def high(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @high.setter
    def high(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def models(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @models.setter
    def models(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def bounds(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @bounds.setter
    def bounds(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

class Exhaustion:
    """All supports of one size, run through."""

    @property
    def supports(self) -> int: ...

    @property
    def survivors(self) -> int: ...

    @property
    def finished(self) -> bool: ...

    @property
    def least(self) -> float: ...

    @property
    def listed(self) -> list[list[int]]: ...

    @property
    def boxes(self) -> list[Boxes]: ...

    @property
    def best(self) -> Card: ...

class Scores:
    """Data and limits of a score card."""

    def __init__(self, x: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, low: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: tuple[float, float], price: float, k: int, ones: int, threads: int) -> None: ...

    def add_layer(self, positive: bool, worth: float, rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def set_rules(self, rules: Sequence[Rule]) -> None: ...

    def search(self, seconds: float) -> Card: ...

    def exhaust(self, inside: Sequence[int], maybe: Sequence[int], *, size: int, level: float, upper: float, share: float, listing: bool, seconds: float) -> Exhaustion: ...
