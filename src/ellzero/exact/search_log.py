"""Progress of a search: one line on a terminal, a line every second elsewhere, or calls of the caller's own function."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from ellzero.base.progress import is_young, progress_stream, time_in_words

LINE_SECONDS = 1.0


@dataclass(frozen=True)
class SearchProgress:
    """The state of a search at one moment."""

    objective: float
    lower_bound: float
    gap: float
    nodes: int
    open: int
    seconds: float
    iteration: int = 0  # of IGA or of outer approximation
    integral: int = 0  # the number of features in IGA's set
    models: int | None = None  # found so far, where all good ones are wanted; the gap is what is missing to their level


SearchCallback = Callable[[SearchProgress], None]


class SearchLog:
    """A log that writes a line about once a second, and the last one; nothing of a search that is over soon."""

    def __init__(self, stream: TextIO, time_limit: float = math.inf) -> None:
        self.stream = stream
        self.time_limit = time_limit
        self.terminal = stream.isatty()
        self.start = self.drawn = time.monotonic()
        self.shown = False

    def __call__(self, now: SearchProgress) -> None:
        """Write or draw a line about the search, unless the last one is young."""
        self.shown = self.shown or not is_young(self.start)
        if not self.shown or (time.monotonic() - self.drawn < LINE_SECONDS and now.open > 0):
            return
        self.drawn = time.monotonic()
        what = "exact search" if now.models is None else f"{now.models} good model{'' if now.models == 1 else 's'} found"
        of_set = f", {now.integral} features made integral" if now.integral else ""
        left = "" if now.open == 0 or math.isinf(self.time_limit) else f" of at most {time_in_words(self.time_limit)}"
        text = (
            f"{what}: gap at most {100 * now.gap:.3g} % (found {now.objective:.8g}, none below {now.lower_bound:.8g}){of_set}, "
            f"{now.nodes} node{'' if now.nodes == 1 else 's'} done, {now.open} to do, {time_in_words(now.seconds)}{left}"
        )
        end = "\n" if now.open == 0 else ""
        self.stream.write(f"\r{text}   {end}" if self.terminal else f"ellzero: {text}\n")
        self.stream.flush()


def as_search_log(progress: bool | SearchCallback | None, time_limit: float = math.inf) -> SearchCallback | None:
    """Return the function to call: the caller's own, or a log on standard error; None for no report."""
    stream = progress_stream(progress)
    if callable(progress):
        return progress
    return None if stream is None else SearchLog(stream, time_limit)
