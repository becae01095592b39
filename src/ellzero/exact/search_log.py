"""Progress of a search: one line on a terminal, a line every second elsewhere, or calls of the caller's own function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from ellzero.base.progress import check_progress

__all__ = ["SearchCallback", "SearchProgress", "as_search_log"]

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
    """A log that writes a line about once a second, and always the last one."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.terminal = stream.isatty()
        self.last: SearchProgress | None = None
        self.drawn = time.monotonic()

    def __call__(self, now: SearchProgress) -> None:
        last_time = time.monotonic() - self.drawn
        if last_time < LINE_SECONDS and now.open > 0:
            return
        before = self.last.nodes if self.last and self.last.nodes <= now.nodes else 0  # fewer: another search has begun
        rate = (now.nodes - before) / max(last_time, 1e-9)
        self.last, self.drawn = now, time.monotonic()
        of_set = f"set {now.integral}  " if now.integral else ""
        of_set += "" if now.models is None else f"models {now.models}  "
        text = (
            f"{of_set}incumbent {now.objective:.8g}  bound {now.lower_bound:.8g}  gap {100 * now.gap:.3g} %  "
            f"nodes {now.nodes}  open {now.open}  {rate:.1f}/s  {now.seconds:.1f} s"
        )
        end = "\n" if now.open == 0 else ""
        self.stream.write(f"\r{text}   {end}" if self.terminal else f"ellzero: {text}\n")
        self.stream.flush()


def as_search_log(progress: bool | SearchCallback) -> SearchCallback | None:
    """Return the function to call: a log on standard error for True, None for False, or the caller's own function."""
    check_progress(progress)
    if callable(progress):
        return progress
    return SearchLog(sys.stderr) if progress and sys.stderr is not None else None
