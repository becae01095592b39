"""Tables of numbers for every column, kept on the device of X (see `cpp/include/ellzero/data/tables.hpp`).

What the core does for every column of an X in memory, these do on the device, by the functions of the array API standard: the
radii and the test of the screening, the ranking of swaps. What comes back is a list of the few columns that are left in doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.base.devices import on_host
from ellzero.design.device_errors import told_of_store

if TYPE_CHECKING:
    from ellzero.design.device_array import DeviceStore

Array = NDArray[np.float64]
Numbers = tuple[Array | None, Array | None, Array, Array | None]

GROUP = 256
"""Columns whose best comes to the host first: the best of all are then looked for among few."""
WORTH_A_PASS = 8
"""If more than one in this many columns must be read, all are."""
PART_BYTES = 1 << 28
"""Bytes of each intermediate result of a ranking."""
NO_COLUMNS, NO_SLOPES = np.empty(0, dtype=np.int32), np.empty(0)


class Trial(NamedTuple):
    """The terms of a test of all columns that are not `inside`, as `cpp/include/ellzero/data/tables.hpp` explains them."""

    radius: float
    per_price: bool
    rank: int
    may: float
    must: float
    inside: NDArray[np.int32]
    r: Array
    readable: float


class Ranking(NamedTuple):
    """The terms of a ranking of swaps, as `cpp/include/ellzero/data/tables.hpp` explains them."""

    iterate: int
    support: NDArray[np.int32]
    removable: NDArray[np.int32]
    beta: Array
    variance: Array
    factor: Array  # of H, as packed rows
    scale: float
    lambda_1: float
    ridge: float
    least_left: float
    most: int

    @property
    def inverse(self) -> Array:
        """Return the inverse of the factor of H."""
        order = int((np.sqrt(8.0 * len(self.factor) + 1.0) - 1.0) / 2.0 + 0.5)
        lower = np.zeros((order, order))
        lower[np.tril_indices(order)] = self.factor
        return np.asarray(np.linalg.inv(lower), dtype=np.float64)

    @property
    def pulls(self) -> Array:
        """Return, for each feature that may leave, the inverse of its variance, its pull and the cost of its removal."""
        beta, precision = self.beta[self.removable], 1.0 / self.variance[self.removable]
        return np.stack([precision, beta * precision, 0.5 * beta * beta * precision])


class ColumnTable:
    """Numbers for every column on a device, rounded up to whole groups: those beyond the last column are zeros."""

    def __init__(self, store: DeviceStore, numbers: Numbers) -> None:
        self.store, self.xp = store, store.xp
        self.columns = store.shape[1]
        self.needed = PART_BYTES  # bytes that a step takes for a while
        self.length = -(-self.columns // GROUP) * GROUP
        mean, scale, square, _ = numbers
        self.mean, self.scale = self.filled(mean, 0.0), self.filled(scale, 1.0)
        self.square = self.filled(square, 0.0)

    def zeros(self, *shape: int) -> Any:
        """Return zeros on the device."""
        return self.xp.zeros(shape, dtype=self.xp.float64, device=self.store.place)

    def filled(self, values: Array | None, otherwise: float) -> Any:
        """Send one number for each column, the same for all where none are given."""
        return self.lengthened(self.store.send(np.full(self.columns, otherwise) if values is None else values))

    def lengthened(self, values: Any) -> Any:
        """Return an array on the device with zeros up to whole groups."""
        beyond = self.length - self.columns
        return self.xp.concat([values, self.zeros(*values.shape[:-1], beyond)], axis=-1) if beyond else values

    def products(self, vectors: Array) -> Any:
        """Return the products of all columns, as the solvers see them, with some vectors."""
        found = self.store.passes.products(self.store.send(vectors), 0, self.columns, self.length)
        return (found - self.store.send(vectors.sum(axis=1))[:, None] * self.mean[None, :]) * self.scale[None, :]

    def largest(self, values: Any, count: int) -> tuple[NDArray[np.int64], Array]:
        """Return the columns of at least the `count` largest values, as far as these are finite, and the values."""
        best = np.sort(on_host(self.xp.max(self.xp.reshape(values, (-1, GROUP)), axis=1)))
        least = best[-count] if count <= len(best) else -np.inf
        return self.where((values >= float(least)) & (values > -self.xp.inf), values)

    def where(self, chosen: Any, values: Any) -> tuple[NDArray[np.int64], Array]:
        """Return the chosen columns and their values on the host."""
        (places,) = self.xp.nonzero(chosen)
        return on_host(places), on_host(self.xp.take(values, places))


class ScreeningTable(ColumnTable):
    """What screening knows of every column.

    A column's center is what it has in `base` (if there is one) and a combination of the kept products, by the `weights` of
    their rows. It is computed on first use.
    """

    def __init__(
        self, store: DeviceStore, numbers: Numbers, lambda_1: float, steepness: float, ridge: float, directions: int
    ) -> None:
        super().__init__(store, numbers)
        xp = self.xp
        self.lambda_1 = lambda_1
        filled = self.square > 0.0  # the slope of a constant column is rounding
        half = xp.where(filled, 0.5 / xp.where(filled, steepness * self.square + ridge, 1.0), 0.0)
        price = self.filled(numbers[3], 1.0)
        self.half = {False: half, True: half / xp.where(price > 0.0, price, 1.0)}  # those without a price are in
        self.free = xp.asarray(self.square, copy=True)
        self.kept = self.zeros(directions, self.length)  # products, in rows that are used again
        self.used: list[int] = []  # the rows of the directions, in their order
        self.base: Any = None
        self.weights: dict[int, float] = {}

    @told_of_store
    def add(self, sides: Array) -> None:
        """Read X for new directions."""
        products = self.products(sides)
        for k in range(len(sides)):
            row = min(set(range(self.kept.shape[0])) - set(self.used))
            self.kept[row, :] = products[k, :]
            self.used.append(row)
        left = self.free - self.xp.sum(products * products, axis=0)
        self.free = self.xp.where(left > 0.0, left, 0.0)

    @told_of_store
    def forget(self, slot: int) -> None:
        """Take a direction out: what its products explained of each column is unexplained again."""
        if self.weights:  # centers are unchanged
            self.base, self.weights = self.centers(), {}
        row = self.used.pop(slot)
        self.free = self.free + self.kept[row, :] * self.kept[row, :]

    def combine(self, coefficients: Array) -> None:
        """Set the centers to a combination of the products."""
        self.base, self.weights = None, dict(zip(self.used, coefficients.tolist(), strict=True))

    def extend(self, step: float) -> None:
        """Add a multiple of the last products to the centers."""
        row = self.used[-1]
        self.weights[row] = self.weights.get(row, 0.0) + step

    @told_of_store
    def read(self, r: Array) -> None:
        """Set the centers to the slopes, which reads X."""
        self.base, self.weights = self.products(r)[0, :], {}

    def centers(self) -> Any:
        """Return the centers."""
        base = self.zeros(self.length) if self.base is None else self.base
        if not self.weights:
            return base
        by_row = np.zeros(self.kept.shape[0])
        by_row[list(self.weights)] = list(self.weights.values())
        return base + self.xp.matmul(self.store.send(by_row), self.kept)

    def outside(self, inside: NDArray[np.int32]) -> Any:
        """Return which columns are asked."""
        asked = np.ones(self.length, dtype=np.bool_)
        asked[inside] = False
        return self.store.send(asked, np.bool_)

    @told_of_store
    def test(self, *terms: Any) -> tuple[float, NDArray[np.int32], Array, float]:
        """Return the columns that may gain more than is enough, as a share and, if that is readable, with their slopes.

        The last of what is returned is a bound for all others; the `terms` are those of a :class:`Trial`.
        """
        xp, center, asked = self.xp, self.centers(), Trial(*terms)
        radius, rank, may, must = asked.radius, asked.rank, asked.may, asked.must
        half = xp.where(self.outside(asked.inside), self.half[asked.per_price], 0.0)
        slope = xp.abs(center) - self.lambda_1
        reach = radius * xp.sqrt(self.free + 1e-12 * self.square) if radius > 0.0 else 0.0
        high = slope + reach
        most = xp.where(high > 0.0, high * high * half, 0.0)
        threshold = must
        if may < must:
            low = slope - reach
            sure = self.largest(xp.where((low > 0.0) & (half > 0.0), low * low * half, -xp.inf), rank)[1]
            enough = float(np.sort(sure)[-rank]) if len(sure) >= rank else 0.0
            threshold = min(max(enough * (1.0 - 1e-9), may), must)
        doubtful = most > threshold
        rest = float(xp.max(xp.where(doubtful, 0.0, most)))
        share = float(xp.sum(xp.astype(doubtful, xp.float64))) / self.columns
        if radius > 0.0 and share > asked.readable:
            return share, NO_COLUMNS, NO_SLOPES, rest
        listed, centers = self.where(doubtful, center)
        columns = listed.astype(np.int32)
        return share, columns, centers if radius == 0.0 else self.slopes(columns, asked.r), rest

    def slopes(self, columns: NDArray[np.int32], r: Array) -> Array:
        """Return the slopes of some columns, which are read there; with many of them a pass costs less."""
        places = self.store.send(columns, np.int64)
        if WORTH_A_PASS * len(columns) > self.columns:
            return on_host(self.xp.take(self.products(r)[0, :], places))
        found = self.store.passes.some_products(self.store.send(r), places)[0, :]
        found = found - float(r.sum()) * self.xp.take(self.mean, places)
        return on_host(found * self.xp.take(self.scale, places))


class SwapTable(ColumnTable):
    """What the swap model knows of every column."""

    def __init__(self, store: DeviceStore, numbers: Numbers) -> None:
        super().__init__(store, numbers)
        self.rows: dict[int, Any] = {}  # feature -> its products with all columns, in float32
        self.diagonal = self.sums = self.slopes = self.zeros(0)

    def narrow(self, values: Any) -> Any:
        """Return numbers in half the memory: the model only ranks."""
        return self.xp.astype(values, self.xp.float32)

    @told_of_store
    def renew(self, d: Array) -> None:
        """Read X for the curvatures of all columns, and forget all features."""
        total = float(d.sum())
        mean, variance = self.store.passes.moments(self.store.send(d[0] / total), 0, self.columns)
        shift, variance = self.lengthened(mean) - self.mean, self.lengthened(variance)
        self.diagonal = self.narrow(total * self.scale * self.scale * (variance + shift * shift))
        self.sums = self.narrow(total * self.scale * shift)
        self.rows = {}

    @told_of_store
    def add(self, features: NDArray[np.int32], sides: Array) -> None:
        """Read X for the products of new features."""
        found = self.narrow(self.products(sides))
        self.rows.update((feature, found[k, :]) for k, feature in enumerate(features.tolist()))

    def keep(self, features: NDArray[np.int32]) -> None:
        """Forget all features but these."""
        self.rows = {feature: self.rows[feature] for feature in features.tolist() if feature in self.rows}

    @told_of_store
    def read_slopes(self, residuals: Array) -> None:
        """Read X for the slopes of several iterates."""
        self.slopes = self.products(residuals)

    @told_of_store
    def rank(self, *terms: Any) -> tuple[NDArray[np.int32], NDArray[np.int32], Array]:
        """Return columns, positions and changes of the swaps that promise most, best first, by the terms of a `Ranking`."""
        xp, asked = self.xp, Ranking(*terms)
        support, removable, inverse = asked.support, asked.removable, asked.inverse
        order = len(inverse)
        # Forward and backward solves for all columns at once are two products with the inverse factor.
        forward, backward = self.store.send(asked.scale * inverse), self.store.send(inverse.T[removable])
        pulls = self.store.send(asked.pulls)
        steep, pull, cost = (pulls[k, :][:, None] for k in range(3))
        rows = [self.rows[feature] for feature in support.tolist()]
        if order > len(support):
            rows.append(self.sums)
        changes, choices = [], []
        width = max(1, PART_BYTES // (8 * order))
        for start in range(0, self.length, width):
            part = slice(start, min(start + width, self.length))
            solved = xp.matmul(forward, xp.astype(xp.stack([row[part] for row in rows]), xp.float64))
            data = asked.scale * xp.astype(self.diagonal[part], xp.float64)
            whole = data + asked.ridge
            left = whole - xp.sum(solved * solved, axis=0)
            floor = xp.where(asked.least_left * whole > 1e-300, asked.least_left * whole, 1e-300)
            left = xp.where(left > floor, left, floor)
            u = xp.matmul(backward, solved)
            gained = xp.abs(self.slopes[asked.iterate, part][None, :] - pull * u) - asked.lambda_1
            gained = xp.where(gained > 0.0, gained, 0.0)
            change = cost - gained * gained / (2.0 * (left[None, :] + steep * u * u))
            change = xp.where(xp.isnan(change), xp.inf, change)
            changes.append(xp.min(change, axis=0))
            choices.append(xp.argmin(change, axis=0))
        change, choice = xp.concat(changes), xp.concat(choices)
        columns, _ = self.largest(xp.where(self.square > 0.0, -change, -xp.inf), asked.most + len(support))
        columns = columns[~np.isin(columns, support)]
        places = self.store.send(columns, np.int64)
        found, replaced = on_host(xp.take(change, places)), on_host(xp.take(choice, places))
        best = np.lexsort((columns, found))[: asked.most]
        return columns[best].astype(np.int32), removable[replaced[best]], found[best]
