"""Designs of an X that is kept outside memory, and the passes over it that threads share."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero.design.base import Array, Design, Reader, as_design, names_at
from ellzero.design.dense import DenseDesign
from ellzero.design.store import Moments, Products, Request, Store

RESIDENT_BYTES = 1 << 28
"""Bytes of memory for the columns that solvers work with."""
GRAM_BYTES = 1 << 27
"""Bytes of memory for the columns that are multiplied with all others."""
COLUMNS_AT_A_TIME = 256
"""The number of columns that one step of a product takes together."""
MOST_ANSWERS = 1 << 27
"""Bytes of answers above which a pass takes no further questions."""
PATIENCE = 0.1
"""The time that a pass waits for threads that are likely to ask, as a share of the time that the last pass took."""
LATELY = 2.0
"""Threads that asked at most this many passes ago are likely to ask."""

Take = Callable[[int, Array], bool]


class StoredDesign:
    """Columns that are kept by a :class:`Store`; the few that the solvers work with stay in memory."""

    def __init__(self, store: Store, names: list[str] | None = None) -> None:
        self.store = store
        self.names = names if names is not None else store.names
        self.shape: tuple[int, int] = store.shape
        self.filled = np.arange(self.shape[1])  # all: a design of the columns that have entries would copy them
        self.passes = Passes(store)
        # A weak reference: the garbage collector cannot see what the core holds, and a store may refer to the results that hold
        # this design (a graph of Dask does, by the globals of a function that makes blocks), which would never be freed.
        self.core = _core.stored(
            weakref.proxy(self.passes),
            rows=self.shape[0],
            columns=self.shape[1],
            type=store.dtype.name,
            resident_bytes=RESIDENT_BYTES,
            column_bytes=getattr(store, "column_bytes", None),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredDesign, (self.store, self.names)

    @property
    def entries(self) -> int:
        """Return the number of entries."""
        return self.shape[0] * self.shape[1]

    def reader(self) -> Reader | None:
        """Return the store's reader of rows, if it has one."""
        return getattr(self.store, "read_rows", None)

    def gram(self, w: Array, threads: int) -> Array:
        """Return X.T @ diag(w) @ X in float64; as many columns as memory holds are multiplied with all others in a pass."""
        n, p = self.shape
        wide = max(1, min(COLUMNS_AT_A_TIME, GRAM_BYTES // (8 * n)))
        parts = [np.arange(first, min(first + wide, p), dtype=np.int32) for first in range(0, p, wide)]
        return np.vstack([self.core.products(w * self.core.columns(part), threads=threads) for part in parts])

    def take(self, columns: NDArray[Any]) -> DenseDesign:
        """Return a design of some columns (ascending) in memory."""
        return DenseDesign(self.store.take(columns), names_at(self.names, columns))

    def on_rows(self, rows: NDArray[np.int64]) -> Design:
        """Return a design of some of the rows (ascending) in memory; all columns are read, a few at a time."""
        n, p = self.shape
        wide = max(1, GRAM_BYTES // (8 * n))
        parts = [self.store[:, first : min(first + wide, p)][rows] for first in range(0, p, wide)]
        return as_design(sparse.hstack(parts) if self.store.storage == "sparse" else np.hstack(parts), self.names)

    def stored(self) -> Store:
        """Return the store itself, whose columns can be sliced."""
        return self.store

    def matvec(self, columns: NDArray[np.int32], coef: Array) -> Array:
        """Return X[:, columns] @ coef, accumulated in float64."""
        listed, out = np.ascontiguousarray(columns, dtype=np.int32), np.zeros(self.shape[0])
        for start in range(0, len(listed), COLUMNS_AT_A_TIME):
            part = slice(start, start + COLUMNS_AT_A_TIME)
            out += np.asarray(coef[part], dtype=np.float64) @ self.core.columns(listed[part])
        return out

    def rmatvec(self, r: Array) -> Array:
        """Return X.T @ r, accumulated in float64."""
        return self.core.products(np.ascontiguousarray(r, dtype=np.float64)[None])[0]


@dataclass(eq=False)
class WaitingRequest:
    """A request that waits for its answers, and the function that takes them."""

    request: Request
    asker: int  # the thread's number
    take: Take | None  # hands over (first column, answers) and returns whether more are wanted; None once they are not
    size: int  # bytes of the answers for all columns
    answered: bool = False
    given: set[int] = field(default_factory=set)  # the first columns of the blocks that have answered
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def settled(self) -> bool:
        """Return whether no more answers are to be handed over."""
        return self.answered or self.take is None

    def give(self, first: int, answers: Array) -> None:
        """Hand over a block's answers if the asker still wants any; only once, though a pass that ended early is repeated."""
        with self.lock:
            if self.take is None or first in self.given:
                return
            self.given.add(first)
            if not self.take(first, np.ascontiguousarray(answers, dtype=np.float64)):
                self.take = None

    def drop(self) -> None:
        """Hand over nothing from here on: the asker is gone."""
        with self.lock:
            self.take = None


class Passes:
    """Passes over a store for the core's questions; questions that several threads ask during one pass share the next."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.count = 0
        self.turn = threading.Condition()
        self.waiting: list[WaitingRequest] = []
        self.leader: WaitingRequest | None = None  # the question whose thread makes the present pass
        self.asked: dict[int, float] = {}  # the time of each thread's last question
        self.seconds = 0.0  # the length of the last pass

    def products(self, vectors: Array, take: Take) -> None:
        """Hand over the products of all columns with each of the vectors."""
        self.ask(Products(vectors), len(vectors), take)

    def moments(self, weights: Array, take: Take) -> None:
        """Hand over the mean and variance of all columns."""
        self.ask(Moments(weights[0]), 2, take)

    def columns(self, listed: NDArray[np.int32]) -> NDArray[Any]:
        """Return some columns, unscaled."""
        return np.asfortranarray(self.store.take(listed), dtype=self.store.dtype)

    def screening_table(self, *numbers: Any) -> Any:
        """Return a table for screening where the columns are, None if the core had better keep it."""
        return self.store.screening_table(*numbers) if hasattr(self.store, "screening_table") else None

    def swap_table(self, *numbers: Any) -> Any:
        """Return a table for the ranking of swaps where the columns are, None if the core had better keep it."""
        return self.store.swap_table(*numbers) if hasattr(self.store, "swap_table") else None

    def ask(self, request: Request, rows: int, take: Take) -> None:
        """Wait until all columns have answered; a thread that finds no pass under way makes one, for all that wait."""
        mine = WaitingRequest(request, threading.get_ident(), take, 8 * rows * self.store.shape[1])
        try:
            with self.turn:
                self.waiting.append(mine)
                self.asked[mine.asker] = time.monotonic()
                self.turn.notify_all()
            while not mine.settled:
                with self.turn:
                    while self.leader is not None and not mine.settled:
                        self.turn.wait()
                    if mine.settled:
                        return
                    self.leader = mine
                self.make_pass(mine)
        finally:
            mine.drop()
            with self.turn:
                self.leave(mine)

    def leave(self, mine: WaitingRequest) -> None:
        """Remove the question of a thread that goes, answered or not (Ctrl-C may come any time): others do not wait for it."""
        if mine in self.waiting:
            self.waiting.remove(mine)
        if not mine.answered:
            self.asked.pop(mine.asker, None)
        if self.leader is mine:
            self.leader = None
        self.turn.notify_all()

    def gather(self) -> list[WaitingRequest]:
        """Return the questions of the next pass, after a short wait for threads that asked lately.

        These are about to ask again: without the wait, two threads would take turns, each with its own passes.
        """
        end = time.monotonic() + PATIENCE * self.seconds
        with self.turn:
            lately = {asker for asker, at in self.asked.items() if at > time.monotonic() - LATELY * self.seconds}
            while lately - {question.asker for question in self.waiting} and (left := end - time.monotonic()) > 0.0:
                self.turn.wait(left)
            self.asked = {asker: at for asker, at in self.asked.items() if asker in lately}
            return self.next_batch()

    def next_batch(self) -> list[WaitingRequest]:
        """Return the oldest questions, as many as memory allows for their answers; they stay in the queue until answered."""
        batch: list[WaitingRequest] = []
        size = 0
        for question in self.waiting:
            if batch and size >= MOST_ANSWERS:
                break
            batch.append(question)
            size += question.size
        return batch

    def make_pass(self, mine: WaitingRequest) -> None:
        """Make one pass for the waiting questions; if it ends early, those of other threads wait for the next."""
        try:
            batch, start = self.gather(), time.monotonic()
            for first, answers in self.store.scan([question.request for question in batch]):
                for question, part in zip(batch, answers, strict=True):
                    question.give(first, part)
                if mine.take is None:
                    return
            with self.turn:
                self.count, self.seconds = self.count + 1, time.monotonic() - start
                for question in batch:
                    question.answered = True
                self.waiting = [question for question in self.waiting if not question.answered]
        finally:
            with self.turn:
                self.leader = None
                self.turn.notify_all()
