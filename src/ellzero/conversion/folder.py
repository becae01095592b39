"""Folders that are written completely or not at all."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from ellzero.base.errors import InvalidInputError
from ellzero.base.files import current_umask
from ellzero.base.quoting import in_bytes
from ellzero.base.reading import Malformed, read_json
from ellzero.base.systems import FolderLock, sync_folder
from ellzero.design.column_files import ABOUT, FORMAT

FULL = {errno.ENOSPC: "there is no room for it", errno.EDQUOT: "the quota leaves no room for it"}
LONGEST_WAIT = 10.0  # seconds
TOO_LARGE = "files of this size are not allowed here"  # EFBIG: the file system, or a limit of the process, forbids it


class NewFolder:
    """A temporary folder next to its destination, which takes the destination's name if the `with` block ends well.

    It is locked while its process is alive. The folder that a killed process leaves behind is not locked, and is removed when
    the next folder for the same destination is made.
    """

    def __init__(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        self.target = Path(path)
        self.overwrite = overwrite
        self.needed: int | None = None
        check_place(self.target)
        with alone_in(self.target.parent):
            check_older(self.target, overwrite)

    def __enter__(self) -> NewFolder:
        with alone_in(self.target.parent):
            remove_leftovers(self.target)
            check_older(self.target, self.overwrite)
            with self.explained():
                self.path, self.lock = locked_folder(self.target)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if error is None:
                with self.explained():
                    self.finish()
        finally:
            shutil.rmtree(self.path, ignore_errors=True)
            self.lock.close()
        if isinstance(error, OSError):
            self.explain(error)

    def expect(self, size: int, scratch_bytes: int = 0) -> None:
        """Announce the bytes to be written, in addition to those in temporary files; raise an error if there is no room."""
        self.needed = size + scratch_bytes
        if shutil.disk_usage(self.path).free < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # `__exit__` replaces it by a sentence

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Replace an error about a full disk inside a `with` block by the sentence that `explain` raises."""
        try:
            yield
        except OSError as error:
            self.explain(error)
            raise

    def explain(self, error: OSError) -> None:
        """Raise a sentence about a full disk instead of an error that is about one."""
        if error.errno not in (*FULL, errno.EFBIG):
            return
        free = in_bytes(
            shutil.disk_usage(self.target.parent).free
        )  # after an error in the block, our own files are gone by now
        more = f"more is needed than the {free} that are free"
        need = more if self.needed is None else f"{in_bytes(self.needed)} are needed, {free} are free"
        raise OSError(error.errno, f"{FULL.get(error.errno, TOO_LARGE)}: {need}", str(self.target)) from None

    def finish(self) -> None:
        """Give the folder its name; an older store of that name is removed only when this one has taken its place."""
        os.chmod(self.path, 0o777 & ~current_umask())  # mkdtemp lets nobody but the owner enter the folder
        sync_folder(self.path)
        with alone_in(self.target.parent):
            check_older(self.target, self.overwrite)
            if not self.target.exists():
                self.path.rename(self.target)
            else:
                self.replace(self.path.with_suffix(".old"))
        sync_folder(self.target.parent)

    def replace(self, old: Path) -> None:
        """Replace an older store, which is renamed for a moment and locked meanwhile, so that it is no leftover."""
        lock = FolderLock(self.target)
        try:
            self.target.rename(old)
            try:
                self.path.rename(self.target)
            except BaseException:
                old.rename(self.target)
                raise
            shutil.rmtree(old, ignore_errors=True)
        finally:
            lock.close()


def check_place(target: Path) -> None:
    """Raise an error if the destination cannot be written."""
    if target.name in ("", ".."):
        raise InvalidInputError(f"out must name a new folder, got {str(target)!r}.")
    if not target.parent.is_dir():
        raise InvalidInputError(f"{target} cannot be written: there is no folder {target.parent}.")
    if not os.access(target.parent, os.W_OK):
        raise InvalidInputError(f"{target} cannot be written: no permission in the folder {target.parent}.")


def check_older(target: Path, overwrite: bool) -> None:
    """Raise an error if the destination holds something else than a column store, or one that is to stay.

    Only a process that is alone in the folder knows: an older store is away for a moment while another one takes its place.
    """
    if not os.path.lexists(target):
        return
    if not is_store(target):
        raise InvalidInputError(f"{target} exists and is not a column store; name another folder.")
    if not overwrite:
        raise InvalidInputError(f"{target} exists; name another folder, or say that it may be overwritten.")


def is_store(path: Path) -> bool:
    """Return whether this is a folder that a writer of column stores has made."""
    try:
        about = read_json(path / ABOUT) if (path / ABOUT).is_file() else None
    except (OSError, Malformed):
        return False
    return isinstance(about, dict) and about.get("format") == FORMAT and not path.is_symlink()


def locked_folder(target: Path) -> tuple[Path, FolderLock]:
    """Make a new folder, and return it with its lock."""
    while True:
        path = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.ellzero-", suffix=".part"))
        # Where folders cannot be locked, another process may take this one for a leftover before it is locked, and remove it.
        with suppress(FileNotFoundError):
            lock = FolderLock(path)
            if lock.taken is not False and os.path.exists(path):
                return path, lock
            lock.close()


@contextmanager
def alone_in(parent: Path) -> Iterator[None]:
    """Keep other processes from making, renaming and removing stores in this folder inside a `with` block.

    The moments in there are short: a process that waits for long goes on as if the folder could not be locked.
    """
    lock = FolderLock(parent)
    try:
        until = time.monotonic() + LONGEST_WAIT
        while lock.taken is False and time.monotonic() < until:
            time.sleep(0.01)
            lock.take()
        yield
    finally:
        lock.close()


def remove_leftovers(target: Path) -> None:
    """Remove the folders that killed processes left; a store that was just being replaced gets its name back."""
    pattern = re.compile(re.escape(f".{target.name}.ellzero-") + r"\w{8}\.(part|old)")
    for name in sorted(os.listdir(target.parent)):
        if not (found := pattern.fullmatch(name)):
            continue
        path = target.parent / name
        try:
            lock = FolderLock(path)
        except OSError:
            continue
        try:
            if not lock.taken:  # its process is alive, or may be
                continue
            if found[1] == "old" and not target.exists():
                path.rename(target)
            else:
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue
        finally:
            lock.close()
