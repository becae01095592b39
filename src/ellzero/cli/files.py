"""Output files: which are wanted, checks of them before long work is done for them, and pictures."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ellzero.base.errors import InvalidInputError
from ellzero.base.files import replacing, through_links
from ellzero.base.quoting import LONGEST_PATH, shown
from ellzero.tables.optional import need

PICTURES = ("svg", "png", "pdf")


def given(*names: str | None) -> list[str]:
    """Return the names of the outputs that are wanted."""
    return [name for name in names if name is not None]


def written_lines(*names: str | None) -> list[str]:
    """Return a line for each file that was written."""
    return [f"written: {shown(name, LONGEST_PATH)}" for name in given(*names)]


def check_output(*names: str | None, inputs: tuple[str, ...] = ()) -> None:
    """Refuse files that cannot be written, or must not be, before any long work is done for them."""
    paths = [Path(name) for name in given(*names)]
    for path in paths:
        place = through_links(path)
        if place.is_dir():
            raise InvalidInputError(f"{path} is a folder; name a file to write.")
        if place.exists() and not place.is_file():  # a device would be replaced by a file
            raise InvalidInputError(f"{path} is no ordinary file; name one that can be written as a whole.")
        if not place.parent.is_dir():
            raise InvalidInputError(f"{path} cannot be written: there is no folder {place.parent}.")
        if not os.access(place.parent, os.W_OK):
            raise InvalidInputError(f"{path} cannot be written: no permission in the folder {place.parent}.")
        if os.path.realpath(path) in {os.path.realpath(name) for name in inputs}:
            raise InvalidInputError(f"{path} is read by this command; name another file to write.")
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise InvalidInputError("two outputs have the same file name.")


def check_picture(name: str | None) -> None:
    """Refuse a picture that cannot be drawn, before any work is done."""
    for picture in given(name):
        if Path(picture).suffix.lower().lstrip(".") not in PICTURES:
            raise InvalidInputError(f"--plot must end in .svg, .png or .pdf, got {picture!r}.")
        need("matplotlib", "plot").use("Agg")


def save_picture(name: str | None, draw: Callable[[], Any]) -> None:
    """Draw the figure if it has a name, write it and close it."""
    for picture in given(name):
        figure = draw().figure
        with replacing(picture) as stream:
            figure.savefig(stream, format=Path(picture).suffix.lower().lstrip("."), bbox_inches="tight", dpi=150)
        need("matplotlib.pyplot", "plot").close(figure)
