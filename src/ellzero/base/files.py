"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ellzero.base.errors import InvalidInputError

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream to write to; the file takes the place of an older one only when all of it is on the disk."""
    target = Path(path)
    if target.exists() and not target.is_file():  # a folder, or a device that would be gone afterwards
        raise InvalidInputError(f"{target} is not a file that can be replaced.")
    handle, name = tempfile.mkstemp(dir=target.parent or ".", prefix=target.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~current_umask())  # a temporary file is its owner's alone, the result is not
        os.replace(name, target)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, name):
            raise OSError(error.errno, error.strerror, str(target)) from None  # a full disk does not say which file it is about
        raise


def current_umask() -> int:
    """The process's mask; it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
