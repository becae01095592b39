"""Files, pipes and compressed files as streams of bytes that know how much of them has been read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from ellzero.base.errors import EllzeroError, InvalidInputError
from ellzero.base.progress import ProgressCallback
from ellzero.base.quoting import in_bytes, one_line
from ellzero.base.reading import open_file
from ellzero.tables.formats import GZIP_MAGIC, STANDARD_INPUT
from ellzero.tables.optional import need

DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, zipfile.BadZipFile)
"""The errors of compressed files that are damaged or cut off; bz2 and zstd raise an OSError without a number instead."""
LEAST_TEXT = 16 << 20
"""Bytes of text that any compressed file may hold if all of it goes into memory, where it takes several times as much."""
FIRST_BYTES = 1 << 16
SVMLIGHT_LINE = re.compile(rb"\s*[-+.\deE]+(,[-+.\deE]+)*(\s+(\d+|qid):\S+)*(\s+\d*)?(\s*#.*)?\s*")
"""A label, or several between commas, and pairs of an index and a value; the last one may be cut off."""
FIELD = rb"[,;|\t\r\n\"] *%s(?=[,;|\t\r\n\"])"
"""A word between separators, quotes or ends of a line."""
LONGEST_WORD = 256
MOST_TIMES = 16
"""A larger file may hold this multiple of its own size."""


@contextmanager
def undamaged(source: str) -> Iterator[None]:
    """Replace the errors of damaged compressed files inside a `with` block by a sentence."""
    try:
        yield
    except DAMAGED as error:
        raise InvalidInputError(f"{source} is damaged or incomplete: {one_line(error)}.") from None
    except OSError as error:
        if error.errno is not None or isinstance(error, EllzeroError):
            raise
        raise InvalidInputError(f"{source} is damaged or incomplete: {one_line(error)}.") from None


@contextmanager
def readable(source: str, kind: str = "") -> Iterator[None]:
    """Replace whatever a library says about a damaged file inside a `with` block by a sentence: libraries fail in many ways.

    Errors of the system, which name a file or a full disk, are unchanged.
    """
    try:
        yield
    except (EllzeroError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InvalidInputError(f"{source} cannot be read{kind and f' as {kind}'}: {one_line(error)}.") from None


class Stream:
    """The bytes of a file, decompressed if its name says so (a pipe: if it begins like gzip).

    With `in_memory`, all of it is going to be in memory: the text of a compressed file is limited, and of a pipe, which could
    not be read twice, all bytes are read at once.
    """

    def __init__(self, name: str, stack: ExitStack, in_memory: bool = False) -> None:
        if os.path.isdir(name):
            raise InvalidInputError(f"{name} is a folder, not a data file.")
        self.raw: Any = sys.stdin.buffer
        if name != STANDARD_INPUT:
            with readable(name):
                self.raw = open_file(name)
            stack.callback(self.raw.close)
        regular = os.path.isfile(name)
        self.size = os.path.getsize(name) if regular else 0
        if in_memory and not regular:
            content = self.raw.read()
            self.raw, self.size = io.BufferedReader(io.BytesIO(content)), len(content)
        self.content: Any = decompressed(self.raw, name, regular)
        if self.content is self.raw:
            return
        stack.callback(self.content.close)
        if in_memory:
            self.content = Limited(self.content, "standard input" if name == STANDARD_INPUT else name, self.size)
            if not regular:
                self.raw = self.content = io.BytesIO(self.content.readall())

    @property
    def fraction(self) -> float:
        """Return the fraction that has been read, 0 where it cannot be known."""
        return min(1.0, self.raw.tell() / self.size) if self.size else 0.0


def text_format(name: str) -> str:
    """Return what a .txt file is by its first line: "svmlight", or a table ("tsv" if it has tabs, else "csv")."""
    with undamaged(name), ExitStack() as stack:
        start = Stream(name, stack).content.read(FIRST_BYTES)
    first = next((line for line in start.splitlines() if line.strip() and not line.startswith(b"#")), b"")
    if SVMLIGHT_LINE.fullmatch(first):
        return "svmlight"
    return "tsv" if b"\t" in first else "csv"


def decompressed(raw: Any, name: str, regular: bool) -> Any:
    """Return the decompressed content of a file, or the file itself if it is not compressed."""
    suffix = os.path.splitext(name.lower())[1]
    if suffix == ".gz" or (not regular and raw.peek(2)[:2] == GZIP_MAGIC):
        return gzip.GzipFile(fileobj=raw)
    if suffix == ".bz2":
        return bz2.BZ2File(raw)
    if suffix == ".xz":
        return lzma.LZMAFile(raw)
    if suffix == ".zst":
        pyarrow = need("pyarrow")
        return pyarrow.CompressedInputStream(pyarrow.PythonFile(raw, "r"), "zstd")
    return raw


class Watched:
    """The content of a stream, which reports how much of it has been read."""

    def __init__(self, stream: Stream, progress: ProgressCallback) -> None:
        self.stream, self.progress = stream, progress

    def read(self, size: int) -> bytes:
        """Return at most this many bytes, none at the end."""
        data: bytes = self.stream.content.read(size)
        self.progress(min(self.stream.fraction, 0.99) if data else 1.0, 0.0, 0)
        return data


class Sought:
    """A stream of a table's text in which some words are looked for; `absent` are those that no field was so far."""

    def __init__(self, stream: Any, words: Iterable[str], encoding: str) -> None:
        self.stream = stream
        wide = encoding.lower().startswith(("utf-16", "utf-32", "utf_16", "utf_32"))  # whose bytes these patterns do not fit
        self.absent = {} if wide else {word: field_pattern(word, encoding) for word in words}
        self.rest = b"\n"

    def read(self, size: int) -> bytes:
        """Return at most this many bytes, none at the end."""
        data: bytes = self.stream.read(size)
        if self.absent:
            text = self.rest + (data or b"\n")
            self.absent = {word: pattern for word, pattern in self.absent.items() if not pattern.search(text)}
            self.rest = text[-LONGEST_WORD:]
        return data


def field_pattern(word: str, encoding: str) -> re.Pattern[bytes]:
    """Return a pattern of a field that holds a word, or a number however many zeros it ends in."""
    with suppress(ValueError):
        float(word)
        return re.compile(FIELD % (re.escape(word.encode()) + rb"(?:[.,]0*)?"))
    return re.compile(FIELD % re.escape(word.encode(encoding, "ignore")))


class Limited(io.RawIOBase):
    """The text of a compressed file of this size, which is refused where it goes on for too long."""

    def __init__(self, stream: Any, source: str, size: int) -> None:
        self.stream = stream
        self.source = source
        self.size = size
        self.most = self.left = max(LEAST_TEXT, MOST_TIMES * size)

    def readable(self) -> bool:
        """Return True, as the interface of streams demands."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer."""
        data = self.stream.read(len(buffer))
        self.left -= len(data)
        if self.left < 0:
            raise InvalidInputError(
                f"{self.source} has {in_bytes(self.size)} and holds more than {in_bytes(self.most)} of text, too much for its "
                "size; unpack it, or use ellzero convert, which needs little memory."
            )
        buffer[: len(data)] = data
        return len(data)


class Replayed(io.RawIOBase):
    """A stream whose beginning can be read twice, even if it is a pipe: bytes read before `rewind` come again after it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.kept = bytearray()
        self.keeping = True
        self.again = memoryview(b"")

    def readable(self) -> bool:
        """Return True, as the interface of streams demands."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with bytes that come again, or with new ones."""
        if len(self.again):
            data: Any = self.again[: len(buffer)]
            self.again = self.again[len(buffer) :]
        else:
            data = self.stream.read(len(buffer))
            if self.keeping:
                self.kept += data
        buffer[: len(data)] = data
        return len(data)

    def start(self, size: int) -> bytes:
        """Return the first bytes of the stream, at most `size`; they come again."""
        while len(self.kept) < size and (data := self.stream.read(size - len(self.kept))):
            self.kept += data
        self.again = memoryview(bytes(self.kept))
        return bytes(self.kept)

    def rewind(self) -> None:
        """Begin again; this works once."""
        self.again, self.keeping = memoryview(bytes(self.kept)), False
