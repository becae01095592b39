"""Tables on a CUDA device by kernels of our own, where CuPy is installed (see `device_tables.cu`).

By the functions of a library a test takes thirty steps over all columns and waits for the device several times. Here it is sent
at once, takes four steps, and the one answer says which columns are left in doubt, with their slopes.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ellzero.base.imports import import_whole
from ellzero.design.device_errors import told_of_store
from ellzero.design.device_passes import HEAD, NOTHING, FusedPasses, source
from ellzero.design.device_tables import GROUP, NO_COLUMNS, NO_SLOPES, Array, Numbers, Ranking, ScreeningTable, SwapTable, Trial

if TYPE_CHECKING:
    from ellzero.design.device_array import DeviceStore

MOST_RANKED, SEARCHERS = 256, 1024
"""As in `device_tables.cu`."""
LISTED_SHARE = 0.25
"""The room in a list of columns."""
COMES_FIRST = 1024
"""Entries of a list that come to the host together with its head."""
ORDERS = (16, 32)
"""Swaps are ranked for supports (with the intercept) of up to this many features."""
SWAPS = 1 << 15
"""Room for columns that promise as much as the best of as many groups."""
NEARLY = 1.0 - 1e-9


@cache
def kernel(name: str, order: int = ORDERS[0]) -> Any:
    """Return a kernel; CuPy keeps what it has compiled once in a file."""
    return import_whole("cupy").RawKernel(source("device_tables.cu"), name, options=("--std=c++14", f"-DORDER={order}"))


class ColumnList:
    """A list of columns that kernels make on the device, with `width` numbers for each, the last of them the column."""

    def __init__(self, xp: Any, width: int, room: int) -> None:
        self.width, self.room = width, room
        self.array = xp.empty(HEAD + width * room, dtype=xp.float64)

    def get(self) -> tuple[int, float, Array]:
        """Return how many columns were found, the bound for the others, and the entries as far as there was room."""
        begin = self.array[: HEAD + self.width * min(COMES_FIRST, self.room)].get()
        found = int(begin[:1].view(np.int64)[0])
        entries = begin[HEAD:]
        if found > COMES_FIRST:
            entries = self.array[HEAD : HEAD + self.width * min(found, self.room)].get()
        entries = entries[: self.width * min(found, self.room)]
        return found, float(begin[1]), entries.reshape(-1, self.width)


class FusedScreening(ScreeningTable):
    """What screening knows of every column."""

    def __init__(self, store: DeviceStore, numbers: Numbers, *terms: Any) -> None:
        super().__init__(store, numbers, *terms)
        self.passes = cast(FusedPasses, store.passes)
        self.groups = self.length // GROUP
        self.center, self.most, self.sure = (self.xp.empty(self.length, dtype=self.xp.float64) for _ in range(3))
        self.best = self.xp.empty(self.groups, dtype=self.xp.float64)
        self.listing = ColumnList(self.xp, 2, int(LISTED_SHARE * self.columns) + 1)

    @told_of_store
    def test(self, *terms: Any) -> tuple[float, NDArray[np.int32], Array, float]:
        """Return what `ScreeningTable.test` does."""
        asked = Trial(*terms)
        radius, r = asked.radius, asked.r
        if asked.rank > MOST_RANKED:
            return super().test(*terms)
        used = len(self.weights)
        sent = self.store.send(np.concatenate([list(self.weights.values()), list(self.weights), asked.inside, r[0]]))
        every, alone = (self.groups,), (1,)
        kernel("bound_gains")(
            every,
            (GROUP,),
            (
                self.kept,
                np.int64(self.length),
                NOTHING if self.base is None else self.base,
                sent,
                np.int32(used),
                np.int32(len(asked.inside)),
                self.free,
                self.square,
                self.half[asked.per_price],
                np.float64(self.lambda_1),
                np.float64(radius),
                self.center,
                self.most,
                self.sure,
                self.best,
            ),
        )
        bounds = (
            np.int32(asked.rank if asked.may < asked.must else 0),
            np.float64(NEARLY),
            np.float64(asked.may),
            np.float64(asked.must),
        )
        listed = self.listing
        kernel("set_threshold")(alone, (SEARCHERS,), (self.best, np.int64(self.groups), self.sure, *bounds, listed.array))
        kernel("list_doubtful")(every, (GROUP,), (self.most, self.center, np.int64(listed.room), listed.array))
        listable = min(listed.room, int(min(asked.readable, self.passes.worth_listing) * self.columns))
        if radius > 0.0:
            vector = sent[2 * used + len(asked.inside) :]
            self.passes.read_listed(vector, float(r.sum()), self.mean, self.scale, listable, listed.array)
        found, rest, entries = listed.get()
        share = found / self.columns
        if radius > 0.0 and share > asked.readable:
            return share, NO_COLUMNS, NO_SLOPES, rest
        if found > listed.room:  # more than X is ever read for
            return super().test(*terms)
        columns = entries[:, 1].astype(np.int32)
        return share, columns, entries[:, 0] if radius == 0.0 or found <= listable else self.slopes(columns, r), rest


class FusedSwaps(SwapTable):
    """What the swap model knows of every column."""

    def __init__(self, store: DeviceStore, numbers: Numbers) -> None:
        super().__init__(store, numbers)
        self.groups = self.length // GROUP
        self.gain = self.xp.empty(self.length, dtype=self.xp.float64)
        self.choice = self.xp.empty(self.length, dtype=self.xp.int32)
        self.best = self.xp.empty(self.groups, dtype=self.xp.float64)
        self.listing = ColumnList(self.xp, 3, SWAPS)

    @told_of_store
    def rank(self, *terms: Any) -> tuple[NDArray[np.int32], NDArray[np.int32], Array]:
        """Return what `SwapTable.rank` does."""
        asked = Ranking(*terms)
        support, removable, inverse = asked.support, asked.removable, asked.inverse
        rows = [self.rows[feature] for feature in support.tolist()]
        if len(inverse) > len(support):
            rows.append(self.sums)
        if len(rows) > ORDERS[-1] or asked.most > MOST_RANKED:
            return super().rank(*terms)
        order = next(known for known in ORDERS if known >= len(rows))
        pointers = np.zeros(order, dtype=np.int64)
        pointers[: len(rows)] = [row.data.ptr for row in rows]
        forward, backward = np.zeros((order, order)), np.zeros((len(removable), order))
        forward[: len(rows), : len(rows)] = asked.scale * inverse
        backward[:, : len(rows)] = inverse.T[removable]
        sent = self.store.send(
            np.concatenate([pointers.view(np.float64), forward.ravel(), backward.ravel(), asked.pulls.ravel(), support])
        )
        numbers = (asked.scale, asked.lambda_1, asked.ridge, asked.least_left)
        room = 8 * (order * (order + len(removable)) + 3 * len(removable))
        kernel("rank_swaps", order)(
            (self.groups,),
            (GROUP,),
            (
                sent,
                np.int32(len(removable)),
                np.int32(len(support)),
                self.diagonal,
                self.square,
                self.slopes[asked.iterate, :],
                *(np.float64(number) for number in numbers),
                self.gain,
                self.choice,
                self.best,
            ),
            shared_mem=room,
        )
        bounds = (np.int32(asked.most), np.float64(1.0), np.float64(-np.inf), np.float64(np.inf))
        listed = self.listing
        kernel("set_threshold")((1,), (SEARCHERS,), (self.best, np.int64(self.groups), NOTHING, *bounds, listed.array))
        kernel("list_swaps")((self.groups,), (GROUP,), (self.gain, self.choice, np.int64(listed.room), listed.array))
        found, _, entries = listed.get()
        if found > listed.room:  # many columns that are the same
            return super().rank(*terms)
        gains, choices, columns = entries.T
        best = np.lexsort((columns, -gains))[: asked.most]
        return columns[best].astype(np.int32), removable[choices[best].astype(np.intp)], -gains[best]
