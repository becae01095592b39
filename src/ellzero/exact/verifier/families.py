"""Families: curvature of the squared error that a bound takes from the loss together from several columns.

For a family A of columns let d_j >= 0, directions u_j and a mass o >= 0 at zero, s = o + sum_A d_j u_j^2. The form

    beta' Q_A beta = min_t [ sum_A d_j (beta_j - u_j t)^2 + o t^2 ],   Q_A = diag(d) - (d u)(d u)' / s,

has the null vector u where o = 0. The columns of an attribute and an intercept depend on each other: u is a null vector of the
Gram matrix, too, and Z'WZ - Q can be positive semidefinite though no diagonal can be taken. A column with u_j = 0 is alone: its
part of Q is a diagonal. Each column gives a part e_j of its ridge to the convex part.

With G = Z'WZ and c = Z'Wy (both centred, if there is an intercept), P = G + diag(e) - Q positive semidefinite, v = c - P b and
R_j = 2 lambda_2 - e_j, every model beta of a region has

    objective >= y'Wy / 2 - b'P b / 2 - K,
    K = max over supports T of the region of  v_T' (Q_TT + R_TT)^-1 v_T / 2 - lambda_0 |T|,

whatever b is. K is a sum over families, and the best numbers of features of each follow by dynamic programming. All of it is
about p columns: the rows are read but once. docs/certificate.md has the rules, and docs/margins.md derives the margins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.exact.verifier.data import dense, require
from ellzero.exact.verifier.regions import States, places

if TYPE_CHECKING:
    from ellzero.exact.verifier.bounds import Stated

Array = NDArray[Any]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

MOST_COLUMNS, MOST_MEMBERS = 2000, 12  # of a form, and of a family: it has 2^12 subsets
LARGEST_SHARE = 31.0 / 32.0  # of the ridge that may go to the convex part
LAST_FEATURES = 3  # that are enumerated
MOST_CANDIDATES = 256  # supports that are computed from the rows
BLOCK_BYTES = 64 * 2**20
ROWS = 1024  # of a block of sums
SHARE_OF_DIVISION = 2.0**-12  # times the error of an entry: above the rounding of x / spread


class Equations(NamedTuple):
    """The normal equations: Z'WZ, Z'Wy and y'Wy, and sizes such that an entry (i, j) is off by at most error size_i size_j."""

    gram: Array
    cross: Array
    square: Any
    sizes: Array
    size: float  # of y
    error: float


class FamilyForm(NamedTuple):
    """The families of a form, column by column, and the mass at zero of each of them."""

    columns: Index  # ascending
    masses: Array  # d_j
    along: Array  # u_j, zero of a column that is alone
    ridge: Array  # e_j
    family: Index
    rest: Array  # o of each family


class GramPoint(NamedTuple):
    """The coefficients b at which a bound is taken, and its form."""

    form: int
    columns: Index
    values: Array


class Proved(NamedTuple):
    """A lower bound over a region, and over its parts where a feature is in, and where it is out."""

    bound: Any
    with_in: Array
    with_out: Array


class Subsets(NamedTuple):
    """The subsets of some members by their sizes, up to a largest one, and the places of those with and without each member."""

    masks: Array  # a column for each subset
    starts: Index  # of each size
    inside: list[tuple[Index, Index, Index]]  # for each member: places, starts, sizes
    outside: list[tuple[Index, Index, Index]]


@dataclass(frozen=True)
class Families:
    """The forms and points of a certificate that are about columns alone, and the nodes whose last features are enumerated."""

    forms: Sequence[FamilyForm]
    points: dict[int, GramPoint]  # of nodes
    enumerated: frozenset[int]
    definite: dict[int, bool] = field(default_factory=dict)
    known: dict[int, Equations] = field(default_factory=dict)

    def speaks_of(self, node: int) -> bool:
        """Return whether there is a proof of a node."""
        return node in self.points or node in self.enumerated

    def equations(self, problem: Stated) -> Equations:
        """Return the normal equations of all columns."""
        if 0 not in self.known:
            arguments = problem.X, problem.y, problem.w, problem.spread, problem.fit_intercept
            self.known[0] = problem.arithmetic.equations(*arguments)
        return self.known[0]

    def check(self, number: int, problem: Stated) -> FamilyForm:
        """Return a form; refuse the certificate if it takes more curvature than there is."""
        form = self.forms[number]
        if number not in self.definite:
            all_ridge = 2.0 * float(problem.lambda_2) * LARGEST_SHARE
            fits = (
                bool((form.ridge <= all_ridge).all())
                and np.bincount(form.family[form.along != 0.0]).max(initial=0) <= MOST_MEMBERS
            )
            self.definite[number] = fits and self._definite(form, problem)
        require(self.definite[number], f"form {number} takes more curvature from the loss than is proved to be there.")
        return form

    def _definite(self, form: FamilyForm, problem: Stated) -> bool:
        """Return whether G + diag(e) - Q is proved to be positive semidefinite."""
        system, numbers = self.equations(problem), problem.arithmetic.numbers
        d, u, e, rest = (numbers(each) for each in (form.masses, form.along, form.ridge, form.rest))
        drawn, total = d * u, rest.copy()
        np.add.at(total, form.family, drawn * u)
        same = form.family[:, None] == form.family
        divisor = np.where(total > 0, total, 1)[form.family]
        taken = np.where(same, drawn[:, None] * drawn / divisor[:, None], 0)
        matrix = system.gram[np.ix_(form.columns, form.columns)] + taken
        matrix[np.diag_indices(len(d))] += e - d
        return problem.arithmetic.definite(matrix, system.error * system.sizes[form.columns] ** 2, d)

    def narrow(self, problem: Stated, states: States, upper: Any) -> tuple[dict[int, Any], States]:
        """Return the bounds of the regions that have a proof of this kind, and the regions narrowed by them and `upper`."""
        found: dict[int, Any] = {}
        if not any(map(self.speaks_of, states.node.tolist())):
            return found, states
        out, into = np.zeros((2, len(states.index)), dtype=bool)
        nothing = np.zeros(len(states.node), dtype=bool)
        enter = problem.allowed(states)[0] + np.bincount(states.holder, minlength=len(states.node))
        ends = np.searchsorted(states.owner, np.arange(len(states.node) + 1)).tolist()
        for at, node in enumerate(states.node.tolist()):
            part, room = slice(ends[at], ends[at + 1]), int(enter[at])
            index, inside = states.index[part], states.inside[part]
            if node in self.points:
                proved = self.prove(problem, self.points[node], index, inside, room)
                if proved is not None:
                    found[node] = proved.bound
                    out[part] = ~inside & (proved.with_in > upper)
                    into[part] = ~inside & (proved.with_out > upper)
            if node in self.enumerated:
                least = self.enumerate(problem, index, inside, room, upper)
                found[node] = max(found.get(node, -math.inf), least)
            nothing[at] = found.get(node, -math.inf) > upper or (out[part] & into[part]).any()
            if nothing[at]:
                found[node] = math.inf
        states = replace(states, inside=states.inside | into).keep(~out).only(~nothing)
        return found, problem.cap(states, upper)

    def prove(self, problem: Stated, point: GramPoint, index: Index, inside: Mask, room: int) -> Proved | None:
        """Return what a point proves of a region; None if its form does not cover the region."""
        form, system, arithmetic = self.check(point.form, problem), self.equations(problem), problem.arithmetic
        lively = problem.norm[index] > 0.0  # the loss says nothing of the other columns
        at = places(form.columns, index)
        if (at[lively] < 0).any() or room < 0:
            return None
        features, at, inner = index[lively], at[lively], inside[lively]
        b = arithmetic.numbers(np.zeros(len(features)))
        where = places(features, point.columns)
        b[where[where >= 0]] = arithmetic.numbers(point.values)[where >= 0]
        d, u, e = (arithmetic.numbers(each[at]) for each in (form.masses, form.along, form.ridge))
        d = np.where(inner, d * 0, d)
        family, rest = form.family[at], arithmetic.numbers(form.rest).copy()
        # The mass of what is out is at zero; of what is in, there is none. Less of it would be right as well.
        gone = np.ones(len(form.columns), dtype=bool)
        gone[at] = False
        left = arithmetic.numbers(form.masses) * arithmetic.numbers(form.along) ** 2
        np.add.at(rest, form.family[gone], left[gone])
        rest = arithmetic.below(rest, rest)
        rest = np.where(rest > 0, rest, rest * 0)
        mass = d * u * u
        total = rest.copy()
        np.add.at(total, family, mass)
        total = np.where(total > 0, total, 1)
        # 1. v = c - P b, and the rest: b'P b / 2.
        gram = system.gram[np.ix_(features, features)]
        drawn = rest * 0
        np.add.at(drawn, family, d * u * b)
        product = gram @ b
        v = system.cross[features] - product - e * b + d * b - d * u * (drawn / total)[family]
        quadratic = b @ product + (e * b) @ b - (d * b) @ b + (drawn * drawn / total).sum()
        ridge = arithmetic.below(2 * problem.lambda_2 - e, 0 * e + 2 * problem.lambda_2)
        if not (ridge > 0).all():
            return None
        # 2. The gains of what is in, and of each family by the number of its features.
        given = (v[inner] ** 2 / ridge[inner]).sum() / 2
        free = np.flatnonzero(~inner)
        room = min(room, len(free))
        best, change_in, change_out = self._gains(
            v[free], d[free], u[free], ridge[free], family[free], rest, room, problem.lambda_0
        )
        counted = problem.lambda_0 * int((inside & problem.counted[index]).sum())
        value = counted + system.square / 2 - quadratic / 2 - given - best
        size = given + best + problem.lambda_0 * (room + 1) + counted
        value = value - arithmetic.margin(system, features, b, v, (d, u, e, ridge), (family, total), size, quadratic)
        with_in, with_out = np.full((2, len(index)), value)
        undecided = np.flatnonzero(lively)[free]
        with_in[undecided], with_out[undecided] = value + change_in, value + change_out
        return Proved(value, with_in, with_out) if arithmetic.finite(value) else None

    @staticmethod
    def _gains(
        v: Array, d: Array, u: Array, ridge: Array, family: Index, rest: Array, room: int, charge: Any
    ) -> tuple[Any, Array, Array]:
        """Return the largest gain of `room` features, and how much less it is with each feature, and without it."""
        zero = v[:0].sum() * charge * 0
        change_in, change_out = np.full((2, len(v)), zero)
        width = d + ridge
        alone = np.flatnonzero(d * u == 0)
        tables = [single_table(v[alone] ** 2 / width[alone] / 2 - charge, room)]
        members, with_in, with_out = [alone], [v[:0]], [v[:0]]
        together = np.flatnonzero(d * u != 0)
        order = together[np.argsort(family[together], kind="stable")]
        sizes = np.bincount(family[order], minlength=len(rest))
        starts = np.cumsum(sizes) - sizes
        for size in np.unique(sizes[sizes > 0]).tolist():
            which = np.flatnonzero(sizes == size)
            at = order[starts[which][:, None] + np.arange(size)]
            held, drawn = ridge[at] / width[at], d[at] * u[at]
            arguments = v[at] ** 2 / width[at], drawn * v[at] / width[at], drawn * u[at], held, rest[which]
            table, inside, outside = family_tables(*arguments, room, charge)
            tables += list(table)
            members += list(at)
            with_in += list(inside)
            with_out += list(outside)
        count = len(tables)
        before, after = [np.full(room + 1, zero)], [np.full(room + 1, zero)]
        for table in tables:
            before.append(merged(before[-1], table))
        for table in reversed(tables):
            after.append(merged(after[-1], table))
        best = before[-1][room]
        for k, at in enumerate(members):
            if not len(at):
                continue
            others = merged(before[k], after[count - 1 - k])
            if k == 0:
                reward = v[alone] ** 2 / width[alone] / 2 - charge
                into, out = single_choices(reward, others, room)
            else:
                into, out = best_of(with_in[k], others, room), best_of(with_out[k], others, room)
            change_in[at], change_out[at] = best - into, best - out
        return best, np.where(change_in > 0, change_in, zero), np.where(change_out > 0, change_out, zero)

    def enumerate(self, problem: Stated, index: Index, inside: Mask, room: int, upper: Any) -> Any:
        """Return the least objective of all models of a region in which few features may still come in; minus infinity if
        they are not few.
        """
        system, arithmetic = self.equations(problem), problem.arithmetic
        lively = problem.norm[index] > 0.0
        features, inner = index[lively], inside[lively]
        room = min(room, int((~inner).sum()))
        if not 0 <= room <= LAST_FEATURES or not problem.lambda_2 > 0:
            return -math.inf
        ridge = 2 * problem.lambda_2
        order = np.concatenate((np.flatnonzero(inner), np.flatnonzero(~inner)))
        features, decided = features[order], int(inner.sum())
        matrix = system.gram[np.ix_(features, features)].copy()
        matrix[np.diag_indices(len(features))] += ridge
        slopes, base = system.cross[features].copy(), system.square / 2
        base = base + problem.lambda_0 * int((inside & problem.counted[index]).sum())
        for _ in range(decided):
            if not matrix[0, 0] > 0:
                return -math.inf
            matrix, slopes, base = eliminated(matrix, slopes, base)
        margin = arithmetic.margin_of_supports(system, features, decided, room, ridge)
        least: Any = math.inf
        candidates: list[tuple[int, ...]] = []
        for count in range(room + 1) if problem.lambda_0 > 0 else [room]:
            for value, support in completions(matrix, slopes, base + problem.lambda_0 * count, count, upper + margin):
                least = min(least, value) if value == value else -math.inf  # NaN proves nothing
                candidates += support
        if margin == 0 or len(candidates) > MOST_CANDIDATES or not arithmetic.finite(least):
            return least - margin
        far = upper if upper + margin > least else least - margin  # the others are above the level of interest
        precise = [
            self._of_support(problem, np.concatenate((features[:decided], features[decided:][list(each)])))
            for each in candidates
        ]
        return max(least - margin, min([far, *precise]) if precise else least - margin)

    def _of_support(self, problem: Stated, columns: Index) -> float:
        """Return a lower bound of the objective of a support, from the rows."""
        system, columns, arithmetic = self.equations(problem), np.sort(columns), problem.arithmetic
        ridge, w, y = 2.0 * problem.lambda_2, problem.w, problem.y
        matrix = system.gram[np.ix_(columns, columns)] + ridge * np.eye(len(columns))
        b = np.linalg.solve(matrix, system.cross[columns]) if len(columns) else np.zeros(0)
        z = dense(problem.X[:, columns]) / problem.spread[columns] if len(columns) else np.zeros((len(y), 0))
        size = np.abs(z) @ np.abs(b) + np.abs(y)
        rest = y - z @ b
        if problem.fit_intercept:
            mean = float(w @ rest) / float(w.sum())
            size, rest = size + abs(mean), rest - mean
        off = (len(columns) + 8) * arithmetic.unit * size
        weighed = np.abs(z).T @ (w * (np.abs(rest) + off))
        mean = abs(float(w @ rest)) + float(w @ off) + len(y) * arithmetic.unit * float(w @ np.abs(rest))
        mean = mean if problem.fit_intercept else 0.0
        slope = np.abs(z.T @ (w * rest) - ridge * b) + (len(y) + 8) * arithmetic.unit * weighed
        slope += np.abs(z).T @ (w * (off + mean)) + arithmetic.round * ridge * np.abs(b)
        # The best intercept of these residuals may be another one.
        loss = arithmetic.sum_below(w * rest * rest / 2.0, 0.0) - 2.0 * float(w @ (np.abs(rest) * off))
        held = problem.lambda_2 * float(b @ b) * (1.0 - arithmetic.round)
        paid = problem.lambda_0 * int(problem.counted[columns].sum())
        value = float(arithmetic.below(loss + held + paid, held + paid)) - mean * mean - float(slope @ slope) / ridge
        return value if math.isfinite(value) else -math.inf


def normal_equations(X: Any, y: Array, w: Array, spread: Array, centred: bool, unit: float) -> Equations:
    """Return the normal equations in float64. Sums go over blocks of rows first, so that many rows cost few digits."""
    n, p = X.shape
    gram, cross, sizes = np.empty((p, p)), np.empty(p), np.empty(p)
    root, total = np.sqrt(w), float(w.sum())

    def product(left: Array, right: Array) -> Array:
        return sum(
            (left[at : at + ROWS].T @ right[at : at + ROWS] for at in range(0, n, ROWS)),
            np.zeros((left.shape[1], right.shape[1])),
        )

    error = 4.0 * (ROWS + n / ROWS + 64) * unit

    def about_mean(z: Array, least: float = 0.0) -> tuple[Array, Array]:
        """Return columns less their means, and their sizes, of which `least` is a share of those about zero."""
        whole = np.sqrt(((z * root[:, None]) ** 2).sum(axis=0))
        if not centred:
            return z * root[:, None], whole
        mean = product(w[:, None], z)[0] / total
        rest = (z - mean) * root[:, None]
        share = max(least, math.sqrt(error))
        return rest, np.sqrt((rest * rest).sum(axis=0)) + share * (whole + np.abs(mean) * math.sqrt(total))

    width = max(1, BLOCK_BYTES // (8 * n))
    parts = [slice(start, min(start + width, p)) for start in range(0, p, width)]
    with np.errstate(all="ignore"):  # what is not finite proves nothing
        target, size = about_mean(y[:, None])
        for k, part in enumerate(parts):
            mine, sizes[part] = about_mean(dense(X[:, part]) / spread[part], SHARE_OF_DIVISION)
            gram[part, part], cross[part] = product(mine, mine), product(mine, target)[:, 0]
            for other in parts[:k]:
                gram[part, other] = product(mine, about_mean(dense(X[:, other]) / spread[other])[0])
                gram[other, part] = gram[part, other].T
        square = float(product(target, target)[0, 0])
    return Equations(gram, cross, square, sizes * (1.0 + 64 * unit * ROWS), float(size[0]) * (1.0 + 64 * unit * ROWS), error)


def eliminated(matrix: Array, slopes: Array, base: Any) -> tuple[Array, Array, Any]:
    """Return the equations after the first column has its best coefficient."""
    pivot, row = matrix[0, 0], matrix[0, 1:]
    share = row / pivot
    return matrix[1:, 1:] - share[:, None] * row, slopes[1:] - share * slopes[0], base - slopes[0] * slopes[0] / pivot / 2


def completions(matrix: Array, slopes: Array, base: Any, count: int, below: Any) -> Any:
    """Yield the least objectives of supports of that many columns, part by part, and the supports that are below a level."""
    pivots = np.diag(matrix)
    if not (pivots > 0).all():  # the ridge is lost in rounding
        yield -math.inf, []
    elif count == 0:
        yield base, [()] if base < below else []
    elif count == 1:
        values = base - slopes * slopes / pivots / 2
        yield values.min(), [(j,) for j in np.flatnonzero(values < below).tolist()]
    elif count == 2:
        after = ~np.tri(len(slopes), dtype=bool)
        share = matrix / pivots[:, None]
        rest, left = slopes - share * slopes[:, None], np.where(after, pivots - share * matrix, 1)
        values = (base - slopes * slopes / pivots / 2)[:, None] - rest * rest / left / 2
        values[~after] = math.inf
        low = values.min() if (left > 0).all() else -math.inf
        yield low, [tuple(each) for each in np.argwhere(values < below).tolist()] if low < below else []
    else:
        for i in range(len(slopes) - count + 1):
            inner = eliminated(matrix[i:, i:], slopes[i:], base)
            for value, supports in completions(*inner, count - 1, below):
                yield value, [(i, *(i + 1 + j for j in each)) for each in supports]


@lru_cache
def subsets(size: int, most: int) -> Subsets:
    """Return the subsets of that many members with at most this many in them."""
    codes = np.arange(2**size)
    masks = (codes >> np.arange(size)[:, None]) & 1
    counts = masks.sum(axis=0)
    order = np.argsort(counts, kind="stable")
    order = order[counts[order] <= most]
    masks, counts = masks[:, order], counts[order]

    def listed(chosen: Index) -> tuple[Index, Index, Index]:
        found, starts = np.unique(counts[chosen], return_index=True)
        return chosen, starts, found

    inside = [listed(np.flatnonzero(row)) for row in masks]
    outside = [listed(np.flatnonzero(row == 0)) for row in masks]
    return Subsets(masks, listed(np.arange(len(order)))[1], inside, outside)


def family_tables(
    squares: Array, lines: Array, mass: Array, held: Array, rest: Array, room: int, charge: Any
) -> tuple[Array, Array, Array]:
    """Return the largest gains of families of one size by the number of their features; then with and without each of them.

    A gain is h(T) = (sum_T v^2 / D + (sum_T d u v / D)^2 / (o + mass of the others + what the ridge holds of T)) / 2.
    """
    size = squares.shape[1]
    chosen = subsets(size, min(size, room))
    masks = chosen.masks.astype(squares.dtype)
    divisor = rest[:, None] + mass @ (1 - masks) + (mass * held) @ masks
    drawn = lines @ masks
    bent = np.where(divisor > 0, drawn * drawn / np.where(divisor > 0, divisor, 1), np.where(drawn == 0, 0 * drawn, math.inf))
    values = (squares @ masks + bent) / 2 - charge * chosen.masks.sum(axis=0)

    def table(listed: tuple[Index, Index, Index]) -> Array:
        at, starts, counts = listed
        out = np.full((len(values), min(size, room) + 1), -math.inf, dtype=values.dtype)
        if len(at):
            out[:, counts] = np.maximum.reduceat(values[:, at], starts, axis=1)
        return out

    whole = np.maximum.reduceat(values, chosen.starts, axis=1)
    inside = np.stack([table(each) for each in chosen.inside], axis=1)
    outside = np.stack([table(each) for each in chosen.outside], axis=1)
    return whole, inside, outside


@lru_cache
def shifts(room: int, width: int) -> tuple[Index, Mask]:
    """Return the places q - t of tables that are joined, and which of them there are."""
    at = np.arange(room + 1)[:, None] - np.arange(width)
    return np.maximum(at, 0), at < 0


def merged(known: Array, table: Array) -> Array:
    """Return the largest sums of gains of two parts for 0, 1, ... features in both together at most."""
    at, none = shifts(len(known) - 1, min(len(table), len(known)))
    sums = known[at] + table[: at.shape[1]]
    sums[none] = -math.inf
    return np.asarray(sums.max(axis=1))


def best_of(tables: Array, others: Array, room: int) -> Array:
    """Return the largest gain of each table's features and others, `room` in all."""
    width = min(tables.shape[1], room + 1)
    return np.asarray((tables[:, :width] + others[room - np.arange(width)]).max(axis=1, initial=-math.inf))


def single_table(reward: Array, room: int) -> Array:
    """Return the largest sums of 0, 1, ... rewards."""
    most = np.sort(reward)[::-1][:room]
    zero = reward[:0].sum()
    return np.concatenate((np.full(1, zero, dtype=reward.dtype), np.cumsum(most)))


def single_choices(reward: Array, others: Array, room: int) -> tuple[Array, Array]:
    """Return the largest sum of rewards, with what others gain in the rest of the room, with and without each."""
    order = np.argsort(-reward, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    sums = np.concatenate((np.full(1, reward[:0].sum(), dtype=reward.dtype), np.cumsum(reward[order])))
    count = np.arange(min(room, len(reward) - 1) + 1)
    ahead = rank[:, None] < count
    rest = np.where(ahead, sums[np.minimum(count + 1, len(reward))] - reward[:, None], sums[count])
    without = (rest + others[room - count]).max(axis=1)
    taken = count[count < room]
    within = (rest[:, : len(taken)] + others[room - 1 - taken]).max(axis=1, initial=-math.inf) + reward
    return within, without
