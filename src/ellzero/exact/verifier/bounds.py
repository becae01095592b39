"""Consequences of a dual point for one region: lower bounds, fixed features and narrower boxes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, tee
from typing import Any, NamedTuple

import numpy as np

from ellzero.exact.verifier.arithmetic import Array, Float64, Objective, Point
from ellzero.exact.verifier.data import dense, require
from ellzero.exact.verifier.diagonals import Diagonals, PointModel
from ellzero.exact.verifier.losses import LossTerms
from ellzero.exact.verifier.models import Models
from ellzero.exact.verifier.regions import Blocks, Index, Mask, State, States
from ellzero.exact.verifier.rules import StatedRules

# A batch of dual points takes one pass over X, which may be on a disk: larger batches need fewer passes.
PRODUCT_BYTES = 256 * 2**20  # of a batch's products with all columns
BATCH_BYTES = 32 * 2**20  # of a batch's points; their dual objectives need several arrays of this size
LARGEST_BATCH = 1024
NEGLIGIBLE = 1e-9  # an objective below this part of the null model's is mere rounding
BUDGET_SLACK = 1e-12  # relative: prices that sum to a budget in decimal numbers may exceed it by the rounding of binary ones


class Knapsacks(NamedTuple):
    """The features that come into each region for their weight, and what the last one gains that comes in by a fraction.

    For each entry: what these gain less if it must be among them, and if it must not.
    """

    entered: Index
    part: Array
    fall_with: Array
    fall_without: Array


@dataclass(frozen=True)
class Stated:
    """The problem that certificate and data define; coefficients are on the penalised scale.

    Features are columns or groups of them, which are known by their first columns: what is said of features, such as prices, is
    said of these. The numbers of the penalty, of boxes and of bounds are those of `arithmetic`; data and dual points are
    float64.

    With several outputs, the problem is that of a larger matrix: the rows of X, y and w once for each output, one output after
    the other, and in the place of each column of X one column for each output, zero in the rows of the others. These stand
    together, and belong to one feature. X itself is as it is for one output: the larger matrix is never made.
    """

    loss: LossTerms
    lambda_0: Any
    lambda_1: Any
    lambda_2: Any
    k: int  # so many features from outside `home` may be in, and so many of `home` out
    home: Mask  # none, unless the bound is over swaps
    fit_intercept: bool
    X: Any
    y: Array
    w: Array
    spread: Array
    norm: Array  # sqrt(sum_i w_i z_ij^2), for bounds of rounding errors
    counted: Mask
    low: Array
    high: Array
    price: Array | None = None  # of each feature, zero for those that are not counted; None: that of all others is one
    budget: Any = None  # of the sum of prices; None: it is the number of features that is limited, by k
    group: Index | None = None  # the first column of each column's group; None: every column is a feature
    outputs: int = 1
    rules: StatedRules | None = None  # which features may, or must, be in together
    blocked: Mask | None = None  # with rules, the features whose bounds leave only zero: they are out
    arithmetic: Float64 = field(default_factory=Float64)

    @cached_property
    def members(self) -> Blocks | None:
        """The columns of each feature."""
        return None if self.group is None else Blocks.of_groups(self.group)

    def columns(self, given: Index) -> Index:
        """Return the columns that stand in the place of columns of X, one for each output."""
        return (given[:, None] * self.outputs + np.arange(self.outputs)).ravel()

    def features(self, columns: Index) -> Index:
        """Return the features of some columns, each once if they are groups."""
        return columns if self.group is None else np.unique(self.group[columns])

    def used(self, coef: Array) -> Mask:
        """Return which features a model uses that are counted."""
        out = np.zeros(len(coef), dtype=bool)
        out[self.features(np.flatnonzero(coef))] = True
        return out & self.counted

    def obeys(self, coef: Array) -> bool:
        """Return whether a model obeys the rules; features that are not counted are in."""
        return self.rules is None or self.rules.hold(self.used(coef) | ~self.counted)

    @cached_property
    def charge(self) -> Array:
        """What each feature pays for coming in, at least: lambda_0 times its price."""
        if self.price is None:
            return np.where(self.counted, self.lambda_0, 0)
        paid = self.lambda_0 * self.price
        return np.maximum(self.arithmetic.below(paid, paid), 0)

    def evaluate(self, coef: Array, intercept: Array | float) -> Objective:
        """Return the objective of a model, with an intercept for each output."""
        support = np.flatnonzero(coef)
        given = np.unique(support // self.outputs)  # columns of X
        columns = dense(self.X[:, given]) if len(given) else np.zeros((self.X.shape[0], 0))
        model = coef[self.columns(given)].reshape(-1, self.outputs), np.atleast_1d(intercept)
        numbers = self.arithmetic.numbers
        beta = np.abs(numbers(coef[support]) * numbers(self.spread[support]))
        paid = np.where(self.counted, self.lambda_0, 0) if self.price is None else self.lambda_0 * self.price
        penalties = self.lambda_1 * beta + self.lambda_2 * beta * beta
        if self.group is None:
            penalties = paid[support] + penalties
        else:
            penalties = np.concatenate((paid[self.features(support)], penalties))
        found = self.arithmetic.objective(self.loss, columns, *model, self.y, self.w, penalties)
        require(all(map(self.arithmetic.finite, found)), "the objective of the solution is not finite.")
        return found

    def scale(self, objective: float) -> float:
        """Return the number that gaps are relative to: the objective, but that of the null model where the objective is larger
        (a bad solution must not make anything negligible), or mere rounding beside it.
        """
        null = self.loss.least(self.y, self.w, self.fit_intercept, self.outputs)
        return min(objective, null) if objective > NEGLIGIBLE * null else null

    def root(self) -> State:
        """Return the region of the root, where nothing is decided."""
        index = np.arange(len(self.counted), dtype=np.int64)
        low, high = self.low, self.high
        if self.members is not None:
            index = self.features(index)
        if self.blocked is not None:
            index = index[~self.blocked[index]]
        columns = index if self.members is None else self.members.listed(index)[0]
        low, high = low[columns], high[columns]
        clause, none = np.full(len(index), -1), np.zeros(0, dtype=np.int64)
        return State(index, ~self.counted[index], low, high, clause, none, self.members)

    def allowed(self, states: States) -> tuple[Array, Index]:
        """Return how many features may come from outside `home` beyond one of each clause, and how many of `home` may leave.

        Under a budget, the first is what is left of it for their prices.
        """
        home = self.home[states.index]
        if self.price is not None and self.budget is not None:
            price = self.price[states.index]
            taken = states.total(price, states.inside) + states.of_regions(states.least_of_clauses(price))
            most = self.budget + self.arithmetic.number(BUDGET_SLACK) * self.budget
            # Each number that was added may have been rounded.
            size = (states.count(states.inside) + states.clauses + 8) * (taken + most)
            return self.arithmetic.above(most - taken, size), np.zeros(len(states.node), dtype=np.int64)
        entered = states.count(states.inside & self.counted[states.index] & ~home) + states.clauses
        return self.k - entered, self.k - (np.count_nonzero(self.home) - states.count(home))

    def cap(self, states: States, upper: Any) -> States:
        """Narrow regions by rules, counts and penalties alone, for solutions not worse than `upper`.

        Losses are never negative, so that the penalties of such a solution are at most `upper`.
        """
        capped = self._cap(states, upper)
        while self.rules is not None and (len(capped.index), capped.inside.sum()) != (len(states.index), states.inside.sum()):
            states, capped = capped, self._cap(capped, upper)
        return capped

    def _cap(self, states: States, upper: Any) -> States:
        """Return what `cap` does in one pass: rules may imply more by what it finds."""
        states = states.settle()
        if self.rules is not None:
            states = self.rules.propagate(states).settle()
        owner, home, (enter, leave) = states.owner, self.home[states.index], self.allowed(states)
        inside = states.inside | home & (leave == 0)[owner]
        more = np.maximum(states.count(home & ~inside) - leave, 0)  # whichever leave, so many of the undecided ones are in
        if self.price is not None:
            states = replace(states, inside=inside)
            return self._cap_at_prices(states, self.price[states.index], upper, (enter, leave), more)
        chosen = states.count(inside & self.counted[states.index])
        room = upper - self.lambda_0 * (chosen + more + states.clauses)
        # `room` may have paid the lambda_0 of these already: one of each clause, and the undecided ones of `home`.
        paid = inside | (states.clause >= 0) | home & (more > 0)[owner]
        # Beyond the last root of lambda_1 m + lambda_2 m^2 - room, the penalty alone exceeds what is left.
        last_root = self.arithmetic.last_root
        large, small = (last_root(self.lambda_2, self.lambda_1, -left) for left in (room, np.maximum(room - self.lambda_0, 0)))
        reach = states.of_columns(np.where(paid, large[owner], small[owner]))
        low, high = np.maximum(states.low, -reach), np.minimum(states.high, reach)
        nothing = (np.minimum(enter, leave) < 0) | (room < 0) | (states.count_columns(low > high) > 0)
        possible = paid | (home | (enter > 0)[owner]) & (room >= self.lambda_0)[owner]
        return replace(states, inside=inside, low=low, high=high).keep(possible).only(~nothing)

    def _cap_at_prices(self, states: States, price: Array, upper: Any, allowed: tuple[Array, Index], more: Index) -> States:
        """Return what `cap` does where prices differ; at least `more` undecided features of `home` are in."""
        enter, leave = allowed
        owner, home, charge = states.owner, self.home[states.index], self.charge[states.index]
        cheapest, least = states.least_of_clauses(price), states.least_of_clauses(charge)
        stay = np.full(len(states.node), np.inf, dtype=charge.dtype)  # the least charge of an undecided feature of home
        at_home = home & ~states.inside
        np.minimum.at(stay, owner[at_home], charge[at_home])
        stay = np.where(more > 0, stay, 0)
        paid = states.total(charge, states.inside) + states.of_regions(least) + more * stay
        size = states.count(states.inside) + states.clauses + 8
        room = upper - np.maximum(self.arithmetic.below(paid, size * paid), 0)
        # `room` has paid for what is in, for the cheapest of each clause, and for the undecided ones of `home`.
        counted = np.append(least, 0)[states.clause] + np.where(home, stay[owner], 0)
        counted = np.where(states.inside, charge, counted)
        left = self.arithmetic.above(room[owner] - (charge - counted), room[owner] + charge + counted)
        reach = states.of_columns(self.arithmetic.last_root(self.lambda_2, self.lambda_1, -np.maximum(left, 0)))
        low, high = np.maximum(states.low, -reach), np.minimum(states.high, reach)
        # In the place of the cheapest of its clause, a feature may take more room.
        extra = price - np.append(cheapest, 0)[states.clause] if self.budget is not None else np.where(states.clause < 0, 1, 0)
        possible = states.inside | (left >= 0) & (home | (extra <= enter[owner]))
        nothing = (enter < 0) | (leave < 0) | (room < 0) | (states.count_columns(low > high) > 0)
        left_out = bool((~possible & (states.clause >= 0)).any())
        states = replace(states, low=low, high=high).keep(possible).only(~nothing)
        return self.cap(states, upper) if left_out else states  # what is left of a clause may be in, or cost more

    @property
    def batch(self) -> int:
        """How many dual points are made at once."""
        rows, columns = len(self.y), len(self.counted)
        return int(np.clip(min(BATCH_BYTES // (8 * rows), PRODUCT_BYTES // (8 * columns)), 1, LARGEST_BATCH))

    @property
    def width(self) -> int:
        """How many nodes are computed at once, each with a dual point of two numbers for each feature."""
        return int(np.clip(BATCH_BYTES // (16 * len(self.counted)), 1, LARGEST_BATCH))

    def points(self, models: Models, rows: Iterable[int], diagonals: Diagonals | None = None) -> Iterator[Point | None]:
        """Yield the dual point of each row of the models, in this order, None for -1; one pass over X serves many rows."""
        rows, wanted = tee(rows)
        known = self._points(models, (row for row in wanted if row >= 0), diagonals)
        for row in rows:
            yield next(known) if row >= 0 else None

    def _points(self, models: Models, rows: Iterator[int], diagonals: Diagonals | None) -> Iterator[Point]:
        while used := list(islice(rows, self.batch)):
            chosen = [None] * len(used) if diagonals is None else [diagonals.models[row] for row in used]
            yield from self.points_at(models.slopes(used, self), chosen, diagonals)

    def points_at(
        self, slopes: Array, chosen: Sequence[PointModel | None] | None = None, diagonals: Diagonals | None = None
    ) -> Iterator[Point]:
        """Yield the dual points with these slopes (see `Models.slopes`), some of which use a diagonal."""
        with np.errstate(all="ignore"):
            theta = self.loss.points(slopes, self.y, self.w, self.fit_intercept, self.outputs)
        theta[~np.isfinite(theta).all(axis=1)] = 0.0
        arguments = self.X, self.spread, self.norm, self.fit_intercept, self.outputs
        points = self.arithmetic.points(self.loss, theta, self.y, self.w, *arguments)
        for at, point, model in zip(theta, points, chosen or [None] * len(theta), strict=True):
            yield point if model is None or diagonals is None else self._move(point, at, model, diagonals)

    def _move(self, point: Point, theta: Array, model: PointModel, diagonals: Diagonals) -> Point:
        """Return a dual point with the diagonal that it uses."""
        diagonals.check(model.diagonal, self)
        moved, covered = diagonals.entries(model.diagonal, len(self.counted))
        idle = self.norm == 0.0  # columns of which the loss says nothing: an intercept, if any, takes their place
        foreign = ~(covered | idle)[model.columns]
        require(not foreign.any(), f"the model of a dual point uses a column that diagonal {model.diagonal} does not have.")
        order = np.argsort(model.columns)  # matrices on a disk want columns in ascending order
        order = order[covered[model.columns[order]]]
        at, coef = model.columns[order], model.values[order]
        columns = dense(self.X[:, at]) if len(at) else np.zeros((len(self.y), 0))
        arguments = columns, coef, self.spread[at], self.fit_intercept, at, moved
        point = self.arithmetic.move(point, theta, self.y, self.w, *arguments)
        return point._replace(moved=self.arithmetic.numbers(moved), covered=covered | idle)

    def narrow(self, states: States, points: Sequence[Point], upper: Any) -> tuple[Array, States]:
        """Return D of each region at its dual point, and the regions narrowed by D and `upper`.

        A region in which no solution is left below `upper` has the bound infinity; where a point proves nothing, it is minus
        infinity.
        """
        owner, index, clause = states.owner, states.index, states.clause
        (v_low, v_high, ridge), fair = self._at_points(states, points)
        home, undecided, (enter, leave) = self.home[index], ~states.inside, self.allowed(states)
        s = np.maximum(self._support_function(v_low, ridge, states), self._support_function(v_high, ridge, states))  # convex
        net = self._gains(s, states) - self.charge[index]
        weight = self.price[index] if self.price is not None and self.budget is not None else None
        # By default, undecided features of `home` are in, the best of each clause too, and others are out. A departure is a
        # feature that does the opposite.
        top, second = best_of_clauses(net, clause, len(states.blocks))
        best = np.zeros(len(net), dtype=bool)
        best[top] = True
        fits = (enter > 0)[owner] if weight is None else weight <= enter[owner]
        coming, going = undecided & ~home & ~best, undecided & home
        rise_in, rise_out = np.zeros((2, len(net)), dtype=net.dtype)
        part: Array = np.zeros(0, dtype=net.dtype)
        if weight is None:
            entered, last, following = best_departures(net, coming, owner, enter)
            rise_in[coming], rise_out[coming] = rises(net[coming], last[owner[coming]], following[owner[coming]])
        else:
            entered, part, fall_with, fall_without = self._knapsacks(net, weight, coming & fits, owner, enter)
            rise_in[coming], rise_out[coming] = fall_with[coming], fall_without[coming]
        if len(top):
            # One that is not the best of its clause comes in its place, or beside it. Where the best is out, the second takes
            # its place, and that of the second, if it had come anyway, another.
            other = np.flatnonzero((clause >= 0) & ~best)
            full, place = ~fits[other], net[top][clause[other]]
            if weight is None:
                place = np.where(full, place, np.minimum(place, last[owner[other]]))
                rise_in[other] = np.maximum(place - net[other], 0)
                next_one = np.minimum(net[second], following[states.holder])
                rise_out[top] = net[top] - np.where(fits[second], next_one, net[second])
            else:
                rise_in[other] = np.where(full, place - net[other], np.minimum(place - net[other], rise_in[other]))
                rise_out[top] = net[top] - net[second] + np.where(fits[second], fall_without[second], 0)
            rise_out[other[full]] = 0
        left, last, following = best_departures(-net, going, owner, leave)
        rise_out[going], rise_in[going] = rises(-net[going], last[owner[going]], following[owner[going]])
        taken = ~coming
        taken[entered], taken[left] = True, False
        values = np.split(-net[taken], np.cumsum(states.count(taken))[:-1])
        if len(part):  # what comes in by a fraction
            values = [np.append(each, -extra) for each, extra in zip(values, part, strict=True)]
        bound = self._sums(points, values)
        fair &= self.arithmetic.finite(bound)
        bound = np.where(fair, bound, 0)
        with_in, with_out = bound[owner] + rise_in, bound[owner] + rise_out
        out, into = (with_in > upper) & fair[owner], (with_out > upper) & fair[owner]
        nothing = (fair & (bound > upper)) | (states.count(out & into) > 0)
        # The bound with the feature of column j in, without j's own term.
        parts = states.of_columns(np.abs(bound)[owner] + rise_in)
        rest = self.arithmetic.below(states.of_columns(with_in) + s, parts + np.abs(s))
        low, high = self._peel(states, v_low, v_high, ridge, rest, upper)
        says = states.of_columns(fair[owner])
        low, high = np.where(says, low, states.low), np.where(says, high, states.high)
        narrowed = replace(states, inside=states.inside | into, low=low, high=high).keep(~out).only(~nothing)
        return np.where(nothing, math.inf, np.where(fair, bound, -math.inf)), self.cap(narrowed, upper)

    def _gains(self, s: Array, states: States) -> Array:
        """Return what features gain, at most: the sums over their columns."""
        if states.members is None:
            return s
        return self.arithmetic.above(states.sums(s), states.sizes * states.sums(np.abs(s)))

    def _knapsacks(self, net: Array, weight: Array, possible: Mask, owner: Index, rooms: Array) -> Knapsacks:
        """Return the features that gain most for their weight in each region, and a part of the last one, up to its room."""
        places = np.flatnonzero(possible & (net > 0))
        places = places[ranked(net[places] / weight[places], owner[places])]
        ends = np.cumsum(np.bincount(owner[places], minlength=len(rooms)))
        entries = np.searchsorted(owner, np.arange(len(rooms) + 1))
        part, fall_with, fall_without = np.zeros(len(rooms), net.dtype), *np.zeros((2, len(net)), net.dtype)
        entered, above, below = [], self.arithmetic.above, self.arithmetic.below
        for at, (mine, room) in enumerate(zip(np.split(places, ends[:-1]), rooms, strict=True)):
            count = np.arange(1, len(mine) + 1)
            taken, gained = np.cumsum(weight[mine]), np.cumsum(net[mine])
            # Rounded down, so that no less comes in than could.
            taken = np.maximum(below(taken, count * taken), 0)
            sack = Sack(net[mine], weight[mine], taken, gained, above)
            full, last = sack.fill(np.array([room]))
            entered.append(mine[: int(full[0])])
            part[at] = last[0]
            # The sums are rounded, and so are the ratios that order them.
            every = slice(entries[at], entries[at + 1])
            size = (len(mine) + 8) * (gained[-1] if len(mine) else 0) + np.abs(net[every])
            value = sack.value(np.array([room]))[0]
            with_it = sack.value(above(room - weight[every], room + weight[every]))
            without = sack.value(above(room + weight[every], room + weight[every]))
            fall_with[every] = np.maximum(below(value - with_it - net[every], size), 0)
            fall_without[every] = np.maximum(below(net[every] - (without - value), size), 0)
        known = self.arithmetic.finite(fall_with) & self.arithmetic.finite(fall_without)  # else it says nothing
        fall_with, fall_without = (np.where(known, each, 0) for each in (fall_with, fall_without))
        chosen = np.concatenate(entered) if entered else np.zeros(0, dtype=np.int64)
        return Knapsacks(chosen, part, fall_with, fall_without)

    def _at_points(self, states: States, points: Sequence[Point]) -> tuple[tuple[Array, Array, Array], Mask]:
        """Return the least and the largest v and the ridge (rounded down) of each column, and which points say anything.

        The ridge is lambda_2, and what a diagonal moves there.
        """
        ends = np.cumsum(np.bincount(states.of_columns(states.owner), minlength=len(points))).tolist()
        parts = [states.columns[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        v_low, v_high = (
            np.concatenate([getattr(point, name)[part] for point, part in zip(points, parts, strict=True)])
            for name in ("v_low", "v_high")
        )
        ridge, fair = np.full(len(v_low), self.lambda_2), np.ones(len(points), dtype=bool)
        for at, (point, part, end) in enumerate(zip(points, parts, ends, strict=True)):
            if point.moved is not None:
                fair[at] = point.covered[part].all()
                total = self.lambda_2 + point.moved[part] / 2
                ridge[end - len(part) : end] = np.maximum(self.arithmetic.below(total, total), self.lambda_2)
        return (v_low, v_high, ridge), fair

    def _sums(self, points: Sequence[Point], values: Sequence[Array]) -> Array:
        """Return the sums of the terms of dual points and of further values, rounded down."""
        terms = (np.concatenate((point.terms, part)) for point, part in zip(points, values, strict=True))
        sums = [self.arithmetic.sum_below(each, point.gauge) for each, point in zip(terms, points, strict=True)]
        return np.array(sums, dtype=values[0].dtype)

    def _support_function(self, v: Array, ridge: Array, states: States) -> Array:
        """Return an upper bound, tight up to rounding, of max v beta - lambda_1 |beta| - ridge beta^2 over the boxes."""
        over = np.maximum(np.abs(v) - self.lambda_1, 0)
        held = ridge > 0
        beta = np.where(held, over / np.where(held, 2 * ridge, 1), np.where(over > 0, np.inf, over))
        beta = np.where(v < 0, -beta, beta)
        beta = np.minimum(np.maximum(beta, states.low), states.high)  # concave: the nearest point to the maximiser outside
        size = np.abs(beta)
        slope = np.where(beta < 0, -v, v) - self.lambda_1
        curve = np.maximum(self.arithmetic.below(ridge * size, 0), 0)  # of a tiny ridge, underflow would be most of it
        value = self.arithmetic.above(size * (slope - curve), size * (np.abs(slope) + curve))
        finite = self.arithmetic.finite
        return np.where(finite(beta) & finite(value), value, np.inf)

    def _peel(self, states: States, v_low: Array, v_high: Array, ridge: Array, rest: Array, upper: Any) -> tuple[Array, Array]:
        """Return the boxes without the outer parts where rest - (v beta - lambda_1 |beta| - ridge beta^2) exceeds `upper`.

        `rest` is a lower bound with feature j in, without j's own term. Zero is never cut off; boxes that exclude zero stay as
        they are.
        """
        around_zero = (states.low <= 0) & (states.high >= 0)
        constant = self.arithmetic.below(rest - upper, np.abs(rest) + upper)
        last_root = self.arithmetic.last_root
        high = np.minimum(states.high, last_root(ridge, self.lambda_1 - v_high, constant))
        low = np.maximum(states.low, -last_root(ridge, self.lambda_1 + v_low, constant))
        return np.where(around_zero, low, states.low), np.where(around_zero, high, states.high)


class Sack(NamedTuple):
    """A knapsack: what features gain and weigh, in the order of their ratios, and the sums of the first of them."""

    gain: Array
    weight: Array
    taken: Array
    gained: Array
    above: Any  # of the arithmetic

    def fill(self, room: Array) -> tuple[Index, Array]:
        """Return how many features fit into some rooms as a whole, and what the part of the next one gains that fits."""
        full = np.searchsorted(self.taken, room, side="right")
        if not len(self.gain):
            return full, np.zeros(len(room), dtype=self.gain.dtype)
        after = np.minimum(full, len(self.gain) - 1)
        share = self.above((room - np.where(full > 0, self.taken[full - 1], 0)) / self.weight[after], 1)
        share = np.where((full < len(self.gain)) & (room > 0), np.minimum(share, 1), 0)
        return full, self.gain[after] * share

    def value(self, room: Array) -> Array:
        """Return what all that fits into some rooms gains."""
        full, last = self.fill(room)
        if not len(self.gain):
            return last
        return np.where(full > 0, self.gained[full - 1], 0) + last


def ranked(values: Array, group: Index) -> Index:
    """Return places in the order of their groups and, in each, from the largest value to the least."""
    order = np.argsort(-values)
    groups = group[order].astype(np.min_scalar_type(int(group.max(initial=0))))  # integers of 16 bits are sorted much faster
    return order[np.argsort(groups, kind="stable")]


def best_of_clauses(net: Array, clause: Index, clauses: int) -> tuple[Index, Index]:
    """Return the places of the best and of the second best feature of each clause."""
    members = np.flatnonzero(clause >= 0)
    order = members[ranked(net[members], clause[members])]
    sizes = np.bincount(clause[members], minlength=clauses)
    first = np.cumsum(sizes) - sizes
    return order[first], order[first + 1]  # a clause has at least two features


def best_departures(gain: Array, possible: Mask, owner: Index, limits: Index) -> tuple[Index, Array, Array]:
    """Return the places of the largest positive gains of each region, at most so many, the least of them and the largest of the
    others; zero if there is none.
    """
    places = np.flatnonzero(possible & (gain > 0))
    places = places[ranked(gain[places], owner[places])]
    sizes = np.bincount(owner[places], minlength=len(limits))
    rank = np.arange(len(places)) - (np.cumsum(sizes) - sizes)[owner[places]]
    limit = limits[owner[places]]
    last, following = np.zeros((2, len(limits)), dtype=gain.dtype)
    for value, at in ((last, places[rank == limit - 1]), (following, places[rank == limit])):
        value[owner[at]] = gain[at]
    return places[rank < limit], last, following


def rises(gain: Array, last: Array, following: Array) -> tuple[Array, Array]:
    """Return the loss in the sum of the largest gains if a feature must be, or must not be, among them."""
    return np.maximum(last - gain, 0), np.maximum(gain - following, 0)
