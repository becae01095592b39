"""The paper's formulation (MIP) as a program.

Each counted feature has a binary switch z_j with low_j z_j <= beta_j <= high_j z_j. All columns of a group have the group's
switch. The loss is written by slack variables, squares or softplus terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.design import Design, is_stored
from ellzero.exact.mip.program import Builder, Program
from ellzero.exact.options import BUDGET_SLACK, SwapNeighbourhood
from ellzero.problem.problem import Problem
from ellzero.problem.rules import IN, OUT, Rules

Array = NDArray[np.float64]
LARGEST_STORED_BYTES = 2**30
"""The largest X outside memory that is read into it: the program holds X, and a MIP solver copies it more than once."""


@dataclass(frozen=True, eq=False)
class Margins:
    """The arguments of the loss, offset + sign * eta, of the samples with a positive weight."""

    kept: NDArray[np.int64]
    offset: Array
    sign: Array

    @classmethod
    def of(cls, problem: Problem) -> Margins:
        """Return 1 - y eta for the hinges, -y eta for the logistic loss, and y - eta for losses of numbers."""
        kept = np.flatnonzero(problem.w > 0.0)
        y, one = problem.units.core_response(problem.y)[kept], np.ones(len(kept))
        return cls(kept, problem.loss.slack.offset * one, -y) if problem.loss.is_classification else cls(kept, y, -one)


@dataclass(frozen=True, eq=False)
class Switches:
    """The features that have a switch, in the switches' order; the columns that have one, and which it is."""

    features: NDArray[np.int32]
    columns: NDArray[np.int32]
    of_column: NDArray[np.int64]

    @classmethod
    def of(cls, problem: Problem) -> Switches:
        """Return the switches of a problem: one for each feature that pays lambda_0."""
        columns = np.flatnonzero(~problem.penalty.unpenalized).astype(np.int32)
        features = problem.penalty.paying(columns)
        return cls(features, columns, np.searchsorted(features, problem.penalty.heads[columns]))

    def scaled(self, factors: Array) -> Array | Any:
        """Return the matrix that multiplies the switch of each column by a factor; the diagonal, if each has its own."""
        if len(self.features) == len(self.columns):
            return factors
        return sparse.csr_matrix((factors, (np.arange(len(factors)), self.of_column)), shape=(len(factors), len(self.features)))


@dataclass(frozen=True, eq=False)
class Formulation:
    """A program in the core's units, and the meaning of its variables.

    Points are made from, and turned into, coefficients beta on the scale of the penalty (`Problem.penalised`) and the user's
    intercept: columns are not centred.
    """

    problem: Problem
    program: Program
    switches: Switches
    beta: slice
    z: slice
    intercept: slice
    margins: Margins
    slack: slice  # one for each sample of `margins`: the hinge's xi, the residual, or u of softplus
    beyond: tuple[slice, slice]  # by how much the slack is above and below its bend; empty without one
    magnitude: slice  # |beta_j|, empty without lambda_1

    def point(self, support: NDArray[np.int32], beta: Array, intercept: float) -> Array:
        """Return the point of the program that a model corresponds to, for the solver to start from."""
        x = np.zeros(self.program.size)
        dense = np.zeros(self.beta.stop - self.beta.start)
        dense[support] = beta / self.problem.units.coefficient
        coef = beta / self.problem.spread[support]
        units = self.problem.units
        x[self.beta] = dense
        x[self.z] = np.isin(self.switches.features, self.problem.penalty.paying(support))
        x[self.intercept] = (intercept - units.centre) / units.response
        eta = self.problem.eta(support, coef[:, None], intercept - units.centre)[self.margins.kept, 0] / units.response
        slack = self.margins.offset + self.margins.sign * eta
        x[self.slack] = inside = np.clip(slack, self.program.lower[self.slack], self.program.upper[self.slack])
        for sign, block in zip((1.0, -1.0), self.beyond, strict=True):
            x[block] = np.maximum(sign * (slack - inside), 0.0)[: block.stop - block.start]
        if self.magnitude.stop > self.magnitude.start:
            x[self.magnitude] = np.abs(dense)
        return self.program.lifted(x)

    def solution(self, x: Array) -> tuple[NDArray[np.int32], Array, float]:
        """Return the columns that are switched on or have no switch, their beta, and the intercept of a point."""
        inside = np.ones(self.beta.stop - self.beta.start, dtype=bool)
        inside[self.switches.columns] = x[self.z][self.switches.of_column] > 0.5
        support = np.flatnonzero(inside).astype(np.int32)
        units = self.problem.units
        intercept = float(x[self.intercept].sum()) * units.response + float(units.centre[0])
        return support, x[self.beta][support] * units.coefficient, intercept


def formulate(
    problem: Problem,
    *,
    lambda_0: float,
    k: int | None = None,
    budget: float | None = None,
    low: Array,
    high: Array,
    swaps: SwapNeighbourhood | None = None,
) -> Formulation:
    """Formulate a problem with low <= beta <= high, which must be finite for the features that pay lambda_0.

    With `swaps`, this is the paper's local search problem: only models within one swap of `swaps.home` are allowed.
    """
    pays = ~problem.penalty.unpenalized
    switches = Switches.of(problem)
    features, switched = switches.features, switches.columns
    builder = Builder()
    low, high = low / problem.units.coefficient, high / problem.units.coefficient
    beta = builder.add(
        len(low), lower=np.where(pays, np.minimum(low, 0.0), low), upper=np.where(pays, np.maximum(high, 0.0), high)
    )
    price = problem.penalty.price[features]
    z = builder.add(len(features), cost=lambda_0 * price / problem.units.cost, lower=0.0, upper=1.0, integer=True)
    pick = sparse.identity(len(low), format="csr")[switched]
    builder.require([(beta, pick), (z, switches.scaled(-high[switched]))], upper=0.0)
    builder.require([(beta, pick), (z, switches.scaled(-low[switched]))], lower=0.0)
    require_limits(builder, z, features, k, swaps)
    require_rules(builder, z, features, problem.rules)
    if budget is not None:  # in a unit in which costs are ordinary: the tolerances of MIP solvers are absolute
        builder.require([(z, price[None] / problem.units.price)], upper=budget * (1.0 + BUDGET_SLACK) / problem.units.price)
    magnitude, curved = add_shrinkage(builder, problem, beta)
    intercept = builder.add(int(problem.fit_intercept))
    margins = Margins.of(problem)
    slack, beyond, squares, softplus = add_loss(builder, problem, margins, beta, intercept)
    program = builder.build([curved, squares], [softplus])
    return Formulation(problem, program, switches, beta, z, intercept, margins, slack, beyond, magnitude)


def require_limits(
    builder: Builder, z: slice, counted: NDArray[np.int32], k: int | None, swaps: SwapNeighbourhood | None
) -> None:
    """Require at most k features, and at most a swap's changes."""
    if k is not None and k < len(counted):
        builder.require([(z, np.ones((1, len(counted))))], upper=k)
    if swaps is not None:
        at_home = np.isin(counted, swaps.home).astype(np.float64)
        builder.require([(z, at_home[None])], lower=at_home.sum() - swaps.size)
        builder.require([(z, 1.0 - at_home[None])], upper=swaps.size)


def require_rules(builder: Builder, z: slice, features: NDArray[Any], rules: Rules) -> None:
    """Require the rules; the switches are those of these features, and others are decided: all that rules name are known."""
    if not rules:
        return
    place = {int(j): at for at, j in enumerate(features)}
    entries: list[tuple[int, int, float]] = []
    lower, upper = list[float](), list[float]()

    def require(terms: list[tuple[int, float]], least: float, most: float) -> None:
        entries.extend((len(lower), at, factor) for at, factor in terms)
        lower.append(least)
        upper.append(most)

    for statement in rules.statements:
        switched = [place[j] for j in statement.members if j in place]
        # Members without a switch are in or out, whatever happens.
        inside = sum(rules.known[j] == IN for j in statement.members if j not in place)
        own = place.get(statement.feature)
        if own is None and statement.feature >= 0 and rules.known[statement.feature] == OUT:
            continue
        least, most, every = statement.low - inside, statement.high - inside, len(switched)
        if least > 0 and own is not None and least == every:
            for at in switched:
                require([(at, 1.0), (own, -1.0)], 0.0, np.inf)
        elif least > 0:
            require([(at, 1.0) for at in switched] + ([] if own is None else [(own, -float(least))]),
                    least if own is None else 0.0, np.inf)  # fmt: skip
        if most < every:  # below zero, the feature itself is out
            require([(at, 1.0) for at in switched] + ([] if own is None else [(own, float(every - most))]),
                    -np.inf, most if own is None else every)  # fmt: skip
    for j in np.flatnonzero(rules.known == OUT):
        if int(j) in place:
            require([(place[int(j)], 1.0)], 0.0, 0.0)
    rows, columns, factors = zip(*entries, strict=True) if entries else ((), (), ())
    matrix = sparse.csr_matrix((factors, (rows, columns)), shape=(len(lower), len(features)))
    builder.require([(z, matrix)], lower=np.array(lower), upper=np.array(upper))


def add_shrinkage(builder: Builder, problem: Problem, beta: slice) -> tuple[slice, NDArray[np.int64]]:
    """Add the terms of lambda_1 and lambda_2; return the variables |beta_j| (none without lambda_1) and the squares."""
    inner, p = problem.units.core_penalty(), beta.stop - beta.start
    magnitude = builder.add(p if inner.lambda_1 > 0.0 else 0, cost=inner.lambda_1, lower=0.0)
    if inner.lambda_1 > 0.0:
        for sign in (-1.0, 1.0):
            builder.require([(magnitude, np.ones(p)), (beta, np.full(p, sign))], lower=0.0)
    if inner.lambda_2 == 0.0:
        return magnitude, np.zeros((0, 2), np.int64)
    heads = builder.add(p, cost=inner.lambda_2, lower=0.0)
    return magnitude, np.stack([indices(heads), indices(beta)], axis=1)


def add_loss(
    builder: Builder, problem: Problem, margins: Margins, beta: slice, intercept: slice
) -> tuple[slice, tuple[slice, slice], NDArray[np.int64], NDArray[np.int64]]:
    """Add a slack for each sample, and its loss; return the slacks, what is beyond them, the squares and the softplus terms."""
    form, n, w = problem.units.loss.slack, len(margins.kept), problem.w[margins.kept]
    # The slack of the hinges is max(0, offset + sign * eta), an inequality; that of others is equal to it.
    slack = builder.add(n, cost=form.linear * w, lower=0.0 if form.positive else -form.bend, upper=form.bend)
    # A line that goes on from the square of the bend costs as much as the square there, and bend times what is beyond.
    bent = np.isfinite(form.bend)
    above, below = (
        builder.add(n if bent else 0, cost=2.0 * form.square * form.bend * w if bent else 0.0, lower=0.0) for _ in "+-"
    )
    squares = softplus = np.zeros((0, 2), np.int64)
    if form.softplus:
        softplus = np.stack([indices(builder.add(n, cost=form.softplus * w, lower=0.0)), indices(slack)], axis=1)
    if form.square:
        heads = builder.add(n, cost=form.square * w, lower=0.0)
        squares = np.stack([indices(heads), indices(slack)], axis=1)
    parts = [(slack, np.ones(n)), (beta, scaled_rows(problem, margins))]
    parts += [(intercept, -margins.sign[:, None])] if problem.fit_intercept else []
    parts += [(above, np.ones(n)), (below, -np.ones(n))] if bent else []
    builder.require(parts, lower=margins.offset, upper=np.inf if form.positive else margins.offset)
    return slack, (above, below), squares, softplus


def indices(block: slice) -> NDArray[np.int64]:
    """Return the indices of the variables of a block."""
    return np.arange(block.start, block.stop)


def check_size(design: Design) -> None:
    """Refuse an X that is outside memory and too large to be read into it."""
    if not is_stored(design):
        return
    X = design.stored()
    size = X.nbytes if X.storage == "sparse" else 8 * design.shape[0] * design.shape[1]
    if size > LARGEST_STORED_BYTES:
        raise InvalidInputError(
            f"method='mip' holds X in memory, and this one is too large for that ({size / 2**30:.1f} GiB); use method='bnb'."
        )


def in_memory(design: Design) -> Design:
    """Return the design with all its columns in memory."""
    return design.take(np.arange(design.shape[1])) if is_stored(design) else design


def scaled_rows(problem: Problem, margins: Margins) -> Any:
    """Return -sign_i x_ij of the samples of `margins`, in the core's units, as a sparse matrix in double precision."""
    rows = sparse.csr_matrix(in_memory(problem.design).stored()[margins.kept], dtype=np.float64)
    rows.data *= np.repeat(-margins.sign, np.diff(rows.indptr))
    rows.data *= problem.units.scale[rows.indices]
    return rows
