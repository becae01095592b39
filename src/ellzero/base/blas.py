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
        self.controller: Any = None
        self.limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            self.inside += 1
            if self.inside > 1:
                return
            if self.controller is None:
                self.controller = import_whole("threadpoolctl").ThreadpoolController()
            self.limit = self.controller.limit(limits=1, user_api="blas")

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                self.limit.restore_original_limits()


one_thread = OneThread()
