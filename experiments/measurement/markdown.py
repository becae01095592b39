"""Numbers and tables as Markdown."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

from numpy.typing import ArrayLike

from experiments.measurement.statistics import mean_with_error

__all__ = ["folded", "mean_with_error_text", "processor", "range_text", "table", "three_digits"]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def folded(title: str, body: str) -> str:
    """Return Markdown that a reader opens if it is of interest; the title is all that is seen at first."""
    return f'<details markdown="1">\n<summary>{title}</summary>\n\n{body}\n\n</details>'


def processor() -> str:
    """Return the number and the name of this machine's processors, such as "2 x AMD EPYC"."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.machine()


def mean_with_error_text(values: ArrayLike, digits: int = 1) -> str:
    """Return the mean and its standard error as the paper prints them: "1.2 ± 0.3"."""
    mean, error = mean_with_error(values)
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def three_digits(number: float) -> str:
    """Return a number with three significant digits, or all digits before the point if it has more."""
    return f"{number:.3g}" if number < 999.5 else f"{number:,.0f}"


def range_text(numbers: Sequence[float]) -> str:
    """Return the smallest and the largest number: "1 to 3", or one of them if they look alike."""
    low, high = three_digits(min(numbers)), three_digits(max(numbers))
    return low if low == high else f"{low} to {high}"
