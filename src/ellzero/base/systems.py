"""What differs between operating systems: reading in place, and locks and names of folders."""

from __future__ import annotations

import errno
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows, which opens no folders
    fcntl = None

AT_ONCE = 1 << 24
"""The number of bytes that are read at once where they are copied."""
moving = threading.Lock()


def open_to_read(path: Path) -> int:
    """Open a file of bytes; return its descriptor."""
    return os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))


def read_at(descriptor: int, place: int, target: NDArray[np.uint8]) -> int:
    """Read bytes from a place in a file; return how many came, 0 at the end of the file. Threads may share the descriptor."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [target], place)  # type: ignore[list-item]
    with moving:
        os.lseek(descriptor, place, os.SEEK_SET)
        piece = os.read(descriptor, min(len(target), AT_ONCE))
    target[: len(piece)] = np.frombuffer(piece, dtype=np.uint8)
    return len(piece)


class FolderLock:
    """The lock of a folder, which the system opens when the process ends in any way.

    Raises an OSError if there is no such folder. Without locks, folders in use cannot be told from those that killed processes
    left: `taken` is None then.
    """

    def __init__(self, path: Path) -> None:
        self.descriptor: int | None = None
        if fcntl is not None:
            self.descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        elif not path.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        self.taken: bool | None = False
        self.take()

    def take(self) -> bool | None:
        """Lock the folder; return whether it is ours now, None if this cannot be known."""
        if self.descriptor is None:
            self.taken = None
        else:
            try:
                fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.taken = True
            except BlockingIOError:
                self.taken = False
            except OSError:  # a file system without locks
                self.taken = None
        return self.taken

    def close(self) -> None:
        """Unlock the folder."""
        if self.descriptor is not None:
            os.close(self.descriptor)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk, where the system lets us."""
    if fcntl is None:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems cannot do this for folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
