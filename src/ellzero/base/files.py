"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ellzero.base.errors import InvalidInputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a stream to a temporary file, which replaces the file at `path` only once it is completely on the disk.

    If `path` is a symbolic link, the file that it leads to is written, and the link stays.
    """
    target = through_links(path)
    if target.exists() and not target.is_file():  # a folder, or a device such as /dev/null, which the new file would replace
        raise InvalidInputError(f"{target} is not a file that can be replaced.")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent or ".", prefix=target.name, suffix=".part")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~current_umask())  # mkstemp lets nobody but the owner read the file
        os.replace(name, target)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, name):
            raise OSError(error.errno, error.strerror, str(target)) from None  # the error of a full disk names no file
        raise


def through_links(path: str | os.PathLike[str]) -> Path:
    """Return the target of a symbolic link, even if there is no file yet; return other paths unchanged."""
    if not os.path.islink(path):
        return Path(path)
    target = Path(os.path.realpath(path))
    if target.is_symlink():  # it leads back to itself
        raise InvalidInputError(f"{os.fspath(path)} is a symbolic link that leads nowhere.")
    return target


def current_umask() -> int:
    """Return the mask of the process for new files; it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
