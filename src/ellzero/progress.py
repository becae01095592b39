"""Progress of long work: a bar on a terminal, plain lines elsewhere, or the caller's own function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

__all__ = ["ProgressCallback", "as_progress"]

ProgressCallback = Callable[[float, float, int], None]
"""Called with the fraction done, the present lambda_0 (0 while sizes are searched) and the present number of features."""

LINE_SECONDS = 1.0
BAR_SECONDS = 0.1
BAR_WIDTH = 30


class Reporter:
    """Draws to a stream, at most a few times a second, and always the end."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.terminal = stream.isatty()
        self.start = time.monotonic()
        self.drawn = -1.0

    def __call__(self, fraction: float, lambda_0: float, support: int) -> None:
        elapsed = time.monotonic() - self.start
        pause = BAR_SECONDS if self.terminal else LINE_SECONDS
        if fraction < 1.0 and elapsed - self.drawn < pause and self.drawn >= 0.0:
            return
        self.drawn = elapsed
        at = f"lambda_0 = {lambda_0:.3g}  " if lambda_0 > 0.0 else ""
        text = f"{100 * fraction:3.0f} %  {at}features = {support}  {elapsed:.1f} s"
        if self.terminal:
            bar = "#" * round(BAR_WIDTH * fraction)
            self.stream.write(f"\r[{bar:<{BAR_WIDTH}}] {text}   " + ("\n" if fraction >= 1.0 else ""))
        else:
            self.stream.write(f"ellzero: {text}\n")
        self.stream.flush()


def as_progress(progress: bool | ProgressCallback) -> ProgressCallback | None:
    """False: nothing; True: standard error; a function: that function."""
    if callable(progress):
        return progress
    return Reporter(sys.stderr) if progress else None
