"""A mixed integer program as plain data for any solver: linear rows, bounds, integrality and two kinds of convex terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Program:
    """The program min cost'x with row_lower <= rows x <= row_upper, lower <= x <= upper, some x_j integer, and convex terms.

    A row (q, x) of `squares` says q >= x^2, a row (t, u) of `softplus` says t >= log(1 + exp(u)). No variable stands in two of
    them; q and t appear in nothing else, and have no negative cost. So an optimal point has them at their least values, and
    any point can be lifted to these.
    """

    cost: Array
    lower: Array
    upper: Array
    integer: NDArray[np.bool_]
    rows: Any  # a CSR matrix
    row_lower: Array
    row_upper: Array
    squares: Indices  # (m, 2)
    softplus: Indices  # (m, 2)

    @property
    def size(self) -> int:
        """The number of variables."""
        return len(self.cost)

    def value(self, x: Array) -> float:
        """Return cost'x of a point unchanged, without lifting it."""
        return float(self.cost @ x)

    def with_rows(self, rows: Any, row_lower: Array, row_upper: Array) -> Program:
        """Return the program with more rows."""
        return replace(
            self,
            rows=sparse.vstack([self.rows, rows], format="csr"),
            row_lower=np.concatenate([self.row_lower, row_lower]),
            row_upper=np.concatenate([self.row_upper, row_upper]),
        )

    def with_terms(self, kinds: Iterable[str]) -> Program:
        """Return the program with only these kinds ("square", "softplus") of convex terms."""
        return replace(
            self,
            squares=self.squares if "square" in kinds else self.squares[:0],
            softplus=self.softplus if "softplus" in kinds else self.softplus[:0],
        )

    def relaxed(self) -> Program:
        """Return the program without integrality."""
        return replace(self, integer=np.zeros_like(self.integer))

    def fixed(self, x: Array) -> Program:
        """Return the continuous program in which the integer variables are fixed at their (rounded) values of a point."""
        value = np.rint(x[self.integer])
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[self.integer] = upper[self.integer] = value
        return replace(self.relaxed(), lower=lower, upper=upper)

    def heads(self) -> Indices:
        """Return the indices of the variables q and t, term by term, squares first."""
        return np.concatenate([self.squares[:, 0], self.softplus[:, 0]])

    def terms(self, x: Array) -> Array:
        """Return the least values of q and t at a point: x^2 and log(1 + exp(u))."""
        return np.concatenate([x[self.squares[:, 1]] ** 2, np.logaddexp(0.0, x[self.softplus[:, 1]])])

    def lifted(self, x: Array) -> Array:
        """Return the point with integers rounded, and q and t at their least values: its cost is that of the program."""
        point = x.copy()
        point[self.integer] = np.rint(x[self.integer])
        point[self.heads()] = self.terms(point)
        return point

    def shortfall(self, x: Array) -> Array:
        """Return the rise in cost that each violated term needs until it holds; zero where it holds."""
        heads = self.heads()
        return self.cost[heads] * np.maximum(self.terms(x) - x[heads], 0.0)

    def violation(self, x: Array) -> float:
        """Return the largest violation of a row, a bound, integrality or a term."""
        activity = self.rows @ x
        parts = [
            self.row_lower - activity,
            activity - self.row_upper,
            self.lower - x,
            x - self.upper,
            np.abs(x - np.rint(x))[self.integer],
            self.terms(x) - x[self.heads()],
        ]
        return max(float(part.max(initial=0.0)) for part in parts)

    def tangents(self, x: Array, chosen: NDArray[np.bool_]) -> tuple[Any, Array]:
        """Return the tangents of the chosen terms at a point, as rows and their lower limits.

        q >= 2 a x - a^2 with a = x at the point, and t >= log(1 + exp(u)) linearised at the point's u. They hold wherever the
        terms hold, with equality at the lifted point.
        """
        squares, softplus = self.squares[chosen[: len(self.squares)]], self.softplus[chosen[len(self.squares) :]]
        a, u = x[squares[:, 1]], x[softplus[:, 1]]
        slope = expit(u)
        m, n = np.arange(len(squares)), len(squares) + np.arange(len(softplus))
        entries = [
            (m, squares[:, 0], np.ones(len(m))),
            (m, squares[:, 1], -2.0 * a),
            (n, softplus[:, 0], np.ones(len(n))),
            (n, softplus[:, 1], -slope),
        ]
        row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
        matrix = sparse.csr_matrix((value, (row, column)), shape=(len(m) + len(n), self.size))
        return matrix, np.concatenate([-(a**2), np.logaddexp(0.0, u) - slope * u])


class Builder:
    """A builder of programs from blocks of variables and rows."""

    def __init__(self) -> None:
        self.size = 0
        self.variables: list[tuple[Array, ...]] = []
        self.blocks: list[tuple[list[tuple[slice, Any]], Array, Array]] = []

    def add(
        self,
        count: int,
        *,
        cost: float | Array = 0.0,
        lower: float | Array = -np.inf,
        upper: float | Array = np.inf,
        integer: bool = False,
    ) -> slice:
        """Add variables; return their place in a point."""
        self.variables.append(tuple(np.broadcast_to(np.asarray(v, float), (count,)) for v in (cost, lower, upper, integer)))
        self.size += count
        return slice(self.size - count, self.size)

    def require(self, parts: list[tuple[slice, Any]], lower: float | Array = -np.inf, upper: float | Array = np.inf) -> None:
        """Add the rows lower <= sum of matrix times block <= upper; a vector stands for a diagonal matrix."""
        matrices = [(where, sparse.diags(m, format="csr") if np.ndim(m) == 1 else sparse.csr_matrix(m)) for where, m in parts]
        count = matrices[0][1].shape[0]
        limits = [np.broadcast_to(np.asarray(side, float), (count,)) for side in (lower, upper)]
        self.blocks.append((matrices, limits[0], limits[1]))

    def build(self, squares: list[Indices], softplus: list[Indices]) -> Program:
        """Return the program; its terms are given as blocks of indices of variables."""
        cost, lower, upper, integer = (np.concatenate(part) for part in zip(*self.variables, strict=True))
        rows = [sum(self.placed(where, matrix) for where, matrix in block[0]) for block in self.blocks]
        return Program(
            cost,
            lower,
            upper,
            integer.astype(bool),
            sparse.vstack(rows, format="csr") if rows else sparse.csr_matrix((0, self.size)),
            np.concatenate([np.zeros(0), *(block[1] for block in self.blocks)]),
            np.concatenate([np.zeros(0), *(block[2] for block in self.blocks)]),
            np.concatenate([np.zeros((0, 2), np.int64), *squares]),
            np.concatenate([np.zeros((0, 2), np.int64), *softplus]),
        )

    def placed(self, where: slice, matrix: Any) -> Any:
        """Return a matrix over all variables, with the given one at the columns of its block."""
        return sparse.csr_matrix((matrix.data, matrix.indices + where.start, matrix.indptr), shape=(matrix.shape[0], self.size))
