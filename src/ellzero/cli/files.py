"""Checks of output files before long work is done for them."""

from __future__ import annotations

import os
from pathlib import Path

from ellzero.base.errors import InvalidInputError
from ellzero.base.files import through_links

__all__ = ["check_output"]


def check_output(*names: str | None, inputs: tuple[str, ...] = ()) -> None:
    """Refuse files that cannot be written, or must not be, before any long work is done for them."""
    given = [Path(name) for name in names if name is not None]
    for path in given:
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
    if len({os.path.realpath(path) for path in given}) < len(given):
        raise InvalidInputError("two outputs have the same file name.")
