"""Plots, written to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ellzero.base.errors import InvalidInputError
from ellzero.base.files import replacing
from ellzero.tables.optional import need

__all__ = ["check_picture", "save_picture"]

FORMATS = ("svg", "png", "pdf")


def check_picture(name: str | None) -> None:
    """Refuse a picture that cannot be drawn, before any work is done."""
    if name is None:
        return
    if Path(name).suffix.lower().lstrip(".") not in FORMATS:
        raise InvalidInputError(f"--plot must end in .svg, .png or .pdf, got {name!r}.")
    need("matplotlib", "plot").use("Agg")


def save_picture(name: str, draw: Callable[[], Any]) -> None:
    """Draw the figure, write it and close it."""
    figure = draw().figure
    with replacing(name) as stream:
        figure.savefig(stream, format=Path(name).suffix.lower().lstrip("."), bbox_inches="tight", dpi=150)
    need("matplotlib.pyplot", "plot").close(figure)
