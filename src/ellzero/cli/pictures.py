"""Plots, written to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ellzero.base.errors import InvalidInputError
from ellzero.base.files import replacing
from ellzero.cli.files import given
from ellzero.tables.optional import need

__all__ = ["check_picture", "save_picture"]

FORMATS = ("svg", "png", "pdf")


def check_picture(name: str | None) -> None:
    """Refuse a picture that cannot be drawn, before any work is done."""
    for picture in given(name):
        if Path(picture).suffix.lower().lstrip(".") not in FORMATS:
            raise InvalidInputError(f"--plot must end in .svg, .png or .pdf, got {picture!r}.")
        need("matplotlib", "plot").use("Agg")


def save_picture(name: str | None, draw: Callable[[], Any]) -> None:
    """Draw the figure if it has a name, write it and close it."""
    for picture in given(name):
        figure = draw().figure
        with replacing(picture) as stream:
            figure.savefig(stream, format=Path(picture).suffix.lower().lstrip("."), bbox_inches="tight", dpi=150)
        need("matplotlib.pyplot", "plot").close(figure)
