"""Input files, from the disk or a pipe, and checks of output files before long work is done for them."""

from __future__ import annotations

import gzip
import io
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ellzero.base.errors import InvalidInputError
from ellzero.base.files import through_links
from ellzero.base.reading import Malformed, open_file
from ellzero.conversion.streams import Limited, Stream, is_compressed, whole
from ellzero.tables.formats import GZIP_MAGIC, STANDARD_INPUT

__all__ = ["check_output", "open_input", "text_stream"]


def open_input(name: str) -> str | io.BytesIO:
    """Return the name of a regular file, or all bytes of standard input or a named pipe, which cannot be read twice."""
    if name == STANDARD_INPUT:
        content = sys.stdin.buffer.read()
    elif os.path.isdir(name):
        raise InvalidInputError(f"{name} is a folder, not a data file.")
    elif os.path.isfile(name):
        return name
    else:
        try:
            with open_file(name) as stream:
                content = stream.read()
        except Malformed as error:
            raise InvalidInputError(f"{name} cannot be read: {error}.") from None
    if content[:2] != GZIP_MAGIC:
        return io.BytesIO(content)
    source = "standard input" if name == STANDARD_INPUT else name
    with whole(source), gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
        return io.BytesIO(Limited(packed, source, len(content)).readall())


def text_stream(source: str, content: str | io.BytesIO, stack: ExitStack) -> Any:
    """Return a stream of the text from its beginning, decompressed, which the stack closes."""
    if isinstance(content, io.BytesIO):
        content.seek(0)
        return content
    stream = Stream(content, stack)
    return Limited(stream.content, source, stream.size) if is_compressed(content) else stream.content


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
