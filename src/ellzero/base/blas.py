"""Small products of matrices on one thread.

A product of a block of rows takes less than a millisecond. NumPy's BLAS divides it among all cores all the same, and where
these have other work, its threads wait for each other a hundred times longer. Our own threads take a block each.
"""

from __future__ import annotations

import threading
from typing import Any

from ellzero.base.imports import import_whole


class OneThread:
    """A context in which BLAS has one thread; when the last thread of ours leaves it, BLAS has as many as before."""

    def __init__(self) -> None:
        self.lock, self.inside = threading.Lock(), 0
        self.libraries: list[Any] | None = None
        self.before: list[int] = []

    def __enter__(self) -> None:
        with self.lock:
            self.inside += 1
            if self.inside > 1:
                return
            if self.libraries is None:
                controller = import_whole("threadpoolctl").ThreadpoolController()
                self.libraries = controller.select(user_api="blas").lib_controllers
            self.before = [library.get_num_threads() for library in self.libraries]
            for library in self.libraries:
                library.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside and self.libraries is not None:
                for library, threads in zip(self.libraries, self.before, strict=True):
                    library.set_num_threads(threads)


one_thread = OneThread()
