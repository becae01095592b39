"""Progress reports of long work: a bar on a terminal (if tqdm is installed), plain lines elsewhere, or a caller's function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

import numpy as np

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.base.quoting import quoted

__all__ = ["ProgressCallback", "as_progress", "check_progress"]

ProgressCallback = Callable[[float, float, int], None]
"""A function of the fraction done, the present lambda_0 (0 while sizes are searched) and the present number of features."""

LINE_SECONDS = 1.0
BAR_STEPS = 1000  # a bar counts whole steps
BAR_FORMAT = "{percentage:3.0f} %|{bar:30}| {desc}{elapsed}<{remaining}"


class Lines:
    """Progress as lines of text, about one a second; the last one is written once, though solvers may report the end twice."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.start = time.monotonic()
        self.written = 0.0
        self.ended = False

    def __call__(self, fraction: float, lambda_0: float, support: int) -> None:
        elapsed = time.monotonic() - self.start
        end = fraction >= 1.0
        if self.ended if end else elapsed - self.written < LINE_SECONDS:
            return
        self.written, self.ended = elapsed, end
        self.stream.write(f"ellzero: {100 * fraction:3.0f} %  {describe(lambda_0, support)}{elapsed:.1f} s\n")
        self.stream.flush()


class Bar:
    """Progress as a tqdm bar, which closes itself at the end; work that begins anew gets a new bar."""

    def __init__(self, stream: TextIO, tqdm: Any) -> None:
        self.make: Callable[[], Any] = lambda: tqdm(total=BAR_STEPS, file=stream, bar_format=BAR_FORMAT, dynamic_ncols=True)
        self.bar: Any = None

    def __call__(self, fraction: float, lambda_0: float, support: int) -> None:
        if self.bar is None or (self.bar.disable and fraction < 1.0):  # tqdm calls a closed bar disabled
            self.bar = self.make()
        if self.bar.disable:
            return
        self.bar.set_description_str(describe(lambda_0, support), refresh=False)
        self.bar.update(round(BAR_STEPS * fraction) - self.bar.n)
        if fraction >= 1.0:
            self.bar.close()


def describe(lambda_0: float, support: int) -> str:
    """Return the present lambda_0 and number of features in words; folds of a cross-validation have neither."""
    at = f"lambda_0 = {lambda_0:.3g}  " if lambda_0 > 0.0 else ""
    return f"{at}features = {support}  " if at or support else ""


def reporter(stream: TextIO) -> ProgressCallback:
    """Return a bar if the stream is a terminal and tqdm is installed, else lines."""
    if not stream.isatty():
        return Lines(stream)
    try:
        with whole_imports():
            from tqdm import tqdm
    except ImportError:
        return Lines(stream)
    return Bar(stream, tqdm)


def check_progress(progress: Any) -> None:
    """Refuse what is neither a truth value nor a function."""
    if progress is not None and not isinstance(progress, (bool, np.bool_)) and not callable(progress):
        raise InvalidInputError(f"progress must be True, False or a function, got {quoted(progress)}.")


def as_progress(progress: bool | ProgressCallback) -> ProgressCallback | None:
    """Return the function that reports progress: none for False, on standard error for True, else the given one."""
    check_progress(progress)
    if callable(progress):
        return progress
    return reporter(sys.stderr) if progress and sys.stderr is not None else None
