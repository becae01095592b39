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

ProgressCallback = Callable[[float, float, int], None]
"""A function of the fraction done, the present lambda_0 (0 while sizes are searched) and the present number of features."""

SECONDS_IN_SILENCE = 2.0
"""Work that is done sooner shows no progress."""

LINE_SECONDS = 1.0
FIRST_ESTIMATE = 0.05  # of the work must be done before the time that is left can be said
BAR_STEPS = 1000  # a bar counts whole steps
BAR_FORMAT = "{desc}: {percentage:3.0f} %|{bar:30}| {elapsed}, {remaining} left{postfix}"


class Steady:
    """Passes reports on to `show`: none of work that is done soon, and never a smaller share than before.

    How much work there is may turn out on the way: then the share waits until the work has caught up.
    """

    def __init__(self, show: ProgressCallback) -> None:
        self.show = show
        self.start = time.monotonic()
        self.most = 0.0
        self.shown = False

    def __call__(self, fraction: float, lambda_0: float, support: int) -> None:
        """Report the largest share so far, if the work takes long."""
        self.most = max(self.most, fraction)
        self.shown = self.shown or not is_young(self.start)
        if self.shown:
            self.show(self.most, lambda_0, support)


def is_young(start: float) -> bool:
    """Return whether work that began at this time (of `time.monotonic`) should still be silent."""
    return time.monotonic() - start < SECONDS_IN_SILENCE


class Lines:
    """Progress as lines of text, about one a second; the last one is written once, though solvers may report the end twice."""

    def __init__(self, stream: TextIO, work: str) -> None:
        self.stream = stream
        self.work = work
        self.start = time.monotonic()
        self.written = 0.0
        self.ended = False

    def __call__(self, fraction: float, lambda_0: float, support: int) -> None:
        """Write a line, unless the last one is young."""
        elapsed = time.monotonic() - self.start
        end = fraction >= 1.0
        if self.ended if end else elapsed - self.written < LINE_SECONDS:
            return
        self.written, self.ended = elapsed, end
        done = f"done in {time_in_words(elapsed)}" if end else f"{100 * fraction:.0f} % in {time_in_words(elapsed)}"
        self.stream.write(f"ellzero: {self.work}: {done}{time_left(fraction, elapsed)}{at_size(support)}\n")
        self.stream.flush()


class Bar:
    """Progress as a tqdm bar, which closes itself at the end; work that restarts gets a new bar."""

    def __init__(self, stream: TextIO, work: str, tqdm: Any) -> None:
        self.make: Callable[[], Any] = lambda: tqdm(
            total=BAR_STEPS, file=stream, desc=work, bar_format=BAR_FORMAT, dynamic_ncols=True
        )
        self.bar: Any = None

    def __call__(self, fraction: float, lambda_0: float, support: int) -> None:
        """Draw the bar."""
        if self.bar is None or (self.bar.disable and fraction < 1.0):  # tqdm calls a closed bar disabled
            self.bar = self.make()
        if self.bar.disable:
            return
        self.bar.set_postfix_str(at_size(support).removeprefix(", "), refresh=False)
        self.bar.update(round(BAR_STEPS * fraction) - self.bar.n)
        if fraction >= 1.0:
            self.bar.close()


def at_size(support: int) -> str:
    """Return the present number of features in words; folds of a cross-validation have none."""
    return f", at {support} feature{'' if support == 1 else 's'}" if support else ""


def time_left(fraction: float, elapsed: float) -> str:
    """Return about how long it will still take, if enough is done to tell."""
    if not FIRST_ESTIMATE <= fraction < 1.0:
        return ""
    return f", about {time_in_words(elapsed * (1.0 - fraction) / fraction)} left"


def time_in_words(seconds: float) -> str:
    """Return a time as people say it.

    >>> [time_in_words(seconds) for seconds in (0.04, 12.3, 59.7, 150, 7300)]
    ['0.0 s', '12 s', '60 s', '2 min 30 s', '2 h 1 min']
    """
    if seconds < 10.0:
        return f"{seconds:.1f} s"
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def reporter(stream: TextIO, work: str) -> ProgressCallback:
    """Return a bar if the stream is a terminal and tqdm is installed, else lines; `work` says what is being done."""
    if not stream.isatty():
        return Lines(stream, work)
    try:
        with whole_imports():
            from tqdm import tqdm
    except ImportError:
        return Lines(stream, work)
    return Bar(stream, work, tqdm)


def progress_stream(progress: Any) -> TextIO | None:
    """Return where progress is shown, None for nowhere: standard error, for True, or for None where somebody may look at it.

    That is a terminal or a notebook; a log file of a program that asks for nothing stays unchanged.
    """
    if progress is not None and not isinstance(progress, (bool, np.bool_)) and not callable(progress):
        raise InvalidInputError(f"progress must be True, False or a function, got {quoted(progress)}.")
    if sys.stderr is None or callable(progress):
        return None
    watched = sys.stderr.isatty() or "ipykernel" in sys.modules
    return sys.stderr if progress or (progress is None and watched) else None


def as_progress(progress: bool | ProgressCallback | None, work: str) -> ProgressCallback | None:
    """Return the function that reports progress: the given one, or one that shows it on standard error, after two seconds.

    False shows nothing; None shows it only where somebody may look at it. `work` says in a few words what is being done.
    """
    stream = progress_stream(progress)
    if callable(progress):
        return progress
    return None if stream is None else Steady(reporter(stream, work))
