"""Input files, from the disk or a pipe, and checks of output files before long work is done for them."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path

from ellzero.base.errors import InvalidInputError
from ellzero.tables.formats import GZIP_MAGIC, STANDARD_INPUT

__all__ = ["check_output", "open_input"]


def open_input(name: str) -> str | io.BytesIO:
    """Return the name of a regular file, or all bytes of standard input or a named pipe, which cannot be read twice."""
    if name == STANDARD_INPUT:
        content = sys.stdin.buffer.read()
    elif os.path.isdir(name):
        raise InvalidInputError(f"{name} is a folder, not a data file.")
    elif os.path.isfile(name):
        return name
    else:
        content = Path(name).read_bytes()
    return io.BytesIO(gzip.decompress(content) if content[:2] == GZIP_MAGIC else content)


def check_output(*names: str | None, inputs: tuple[str, ...] = ()) -> None:
    """Refuse files that cannot be written, or must not be, before any long work is done for them."""
    given = [Path(name) for name in names if name is not None]
    for path in given:
        if path.is_dir():
            raise InvalidInputError(f"{path} is a folder; name a file to write.")
        if path.exists() and not path.is_file():  # a device would be replaced by a file
            raise InvalidInputError(f"{path} is no ordinary file; name one that can be written as a whole.")
        if not path.parent.is_dir():
            raise InvalidInputError(f"{path} cannot be written: there is no folder {path.parent}.")
        if not os.access(path.parent, os.W_OK):
            raise InvalidInputError(f"{path} cannot be written: no permission in the folder {path.parent}.")
        if os.path.realpath(path) in set(map(os.path.realpath, inputs)):
            raise InvalidInputError(f"{path} is read by this command; name another file to write.")
    if len(set(map(os.path.realpath, given))) < len(given):
        raise InvalidInputError("two outputs have the same file name.")
