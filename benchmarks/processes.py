"""Processes that compute on one thread."""

from __future__ import annotations

import os

__all__ = ["THREAD_VARIABLES", "one_thread"]

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def one_thread(**more: str) -> dict[str, str]:
    """The environment of a process whose linear algebra has one thread; libraries read it when they are loaded."""
    return dict(os.environ) | dict.fromkeys(THREAD_VARIABLES, "1") | more
