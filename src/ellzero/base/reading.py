"""Reading of files that may be damaged or hostile: JSON, arrays (.npy) and archives of arrays (.npz).

Sizes, types and shapes are allowed before anything is read, so that a small file cannot claim much memory, and nothing that is
loaded runs code. Whatever is wrong raises `Malformed`: a clause for the caller's sentence, which quotes the file only in short
and with escapes.
"""

from __future__ import annotations

import ast
import errno
import io
import json
import math
import os
import re
import stat
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.base.quoting import in_bytes, one_line, quoted

LEAST_ALLOWED = 128 << 20
"""Bytes of memory that any file may claim, however small it is. What is made of the arrays may take as much again."""
MOST_TIMES = 8
"""A larger file may claim this multiple of its own size."""
LONGEST_HEADER = 10_000  # of a .npy file, as NumPy itself allows
MOST_DIMENSIONS = 32
PIECE = 1 << 20  # bytes that are read at once
MAGIC = b"\x93NUMPY"
SIMPLE_TYPE = re.compile(r"[<>=|]?[A-Za-z?]\d{0,9}(\[\d{0,3}[A-Za-z]{1,2}\])?")
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
DEEPEST = 8  # lists and objects of JSON inside each other
MOST_DIGITS = 310  # of an integer in JSON, with its sign: more do not fit into a float64 either


class Malformed(Exception):
    """A file, or an entry of one, that cannot be used; the message is a clause that says what is wrong."""


def most_bytes(size: int) -> int:
    """Return the bytes of memory that a file of this size may claim."""
    return max(LEAST_ALLOWED, MOST_TIMES * size)


@contextmanager
def read_as(failure: str, where: str = "") -> Iterator[None]:
    """Turn any error inside a `with` block into `Malformed`: damaged files fail in many ways, inside other libraries too."""
    try:
        yield
    except Malformed as error:
        raise Malformed(f"{where}{error}") from None
    except (FileNotFoundError, MemoryError):
        raise
    except Exception as error:
        raise Malformed(f"{where}{failure} ({one_line(error) or type(error).__name__})") from None


def open_file(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file or a pipe for reading; folders, devices (which may never end) and links to themselves are refused."""
    try:
        if is_device(path):
            raise Malformed("it is a device")
        return open(path, "rb")
    except IsADirectoryError:
        raise Malformed("it is a folder") from None
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise Malformed("it is a symbolic link that leads to itself") from None


def is_device(path: str | os.PathLike[str]) -> bool:
    """Return whether a path leads to a device, such as /dev/zero."""
    mode = os.stat(path).st_mode
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a file as a whole; of a pipe, which may never end, as much as any file may claim."""
    with open_file(path) as stream:
        if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return stream.read()
        content = stream.read(LEAST_ALLOWED + 1)
    if len(content) > LEAST_ALLOWED:
        raise Malformed(f"it continues after {in_bytes(LEAST_ALLOWED)}")
    return content


# JSON


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file, in UTF-8."""
    return parse_json(read_bytes(path))


def parse_json(content: bytes) -> Any:
    """Return the value of a JSON text without numbers that are infinite or none, too many digits, or a name twice in an object.

    >>> parse_json(b'{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    >>> parse_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ellzero.base.reading.Malformed: it has the name 'a' twice in one object
    """
    with read_as("it is no JSON"):
        text = content.decode()
        # Bytes of what Python makes: values in a list, strings, lists, dictionaries. Short ones are mostly overhead.
        counts = {b",": 40, b'"': 24, b"[": 80, b"{": 240}
        claimed = sys.getsizeof(text) + sum(size * content.count(mark) for mark, size in counts.items())
        if claimed > most_bytes(len(content)):
            raise Malformed(f"its JSON would take {in_bytes(claimed)} of memory")
        try:
            value = json.loads(
                text, parse_int=as_int, parse_float=as_float, parse_constant=refuse_constant, object_pairs_hook=as_object
            )
        except RecursionError:
            raise Malformed(f"its JSON is nested more than {DEEPEST} deep") from None
        check_depth(value)
    return value


def as_int(digits: str) -> int:
    """Return an integer of JSON."""
    if len(digits) > MOST_DIGITS:
        raise Malformed(f"it has an integer of {len(digits)} digits")
    return int(digits)


def as_float(digits: str) -> float:
    """Return a number of JSON."""
    value = float(digits)
    if not math.isfinite(value):
        raise Malformed(f"it has a number that is too large: {quoted(digits)}")
    return value


def refuse_constant(name: str) -> Any:
    """Refuse NaN and infinity: Python's reader of JSON accepts them, the format does not."""
    raise Malformed(f"it contains {name}")


def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, whose names must be different."""
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        raise Malformed(f"it has the name {quoted(next(name for name in names if names.count(name) > 1))} twice in one object")
    return out


def check_depth(value: Any) -> None:
    """Refuse JSON that is nested deeper than any format here."""
    level = [value]
    for _ in range(DEEPEST):
        level = [part for each in level for part in parts_of(each) if isinstance(part, (list, dict))]
        if not level:
            return
    raise Malformed(f"its JSON is nested more than {DEEPEST} deep")


def parts_of(value: Any) -> Sequence[Any]:
    """Return the parts of a list or an object of JSON."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ()


# Arrays


class NpyHeader(NamedTuple):
    """The beginning of a .npy file: what follows it."""

    shape: tuple[int, ...]
    fortran: bool  # whether columns come one after another
    dtype: np.dtype[Any]
    length: int  # bytes of the header itself

    @property
    def nbytes(self) -> int:
        """Return the bytes of the entries; Python's integers do not wrap around."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: IO[bytes]) -> NpyHeader:
    """Read the header of a .npy file: the entries follow in the stream."""
    start = stream.read(8)
    if len(start) < 8 or start[:6] != MAGIC:
        raise Malformed("it is not a NumPy array")
    if start[6] not in (1, 2, 3) or start[7] != 0:
        raise Malformed(f"it is a NumPy array of version {start[6]}.{start[7]}, which is not known")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(stream.read(width), "little")
    if length > LONGEST_HEADER:
        raise Malformed(f"its header claims {length} bytes")
    text = stream.read(length)
    if len(text) < length:
        raise Malformed("it ends inside its header")
    with read_as("its header cannot be read"):
        return NpyHeader(*parsed_header(text.decode("utf-8" if start[6] == 3 else "latin-1")), 8 + width + length)


def parsed_header(text: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and type, which the header says as a dictionary in Python's spelling."""
    if sum(map(text.count, "([{")) > 8:
        raise Malformed("its header is nested, as that of no array of numbers or text is")
    try:
        said = ast.literal_eval(re.sub(r"(?<=\d)L\b", "", text).strip())  # Python 2 wrote 3L
    except (ValueError, SyntaxError, TypeError):
        raise Malformed("its header cannot be read (it is not a dictionary of plain values)") from None
    if not isinstance(said, dict) or said.keys() != {"descr", "fortran_order", "shape"}:
        raise Malformed("its header does not say type, order and shape")
    shape, kind, fortran = said["shape"], said["descr"], said["fortran_order"]
    sizes = (
        isinstance(shape, tuple) and len(shape) <= MOST_DIMENSIONS and all(type(size) is int and size >= 0 for size in shape)
    )
    if not sizes or not isinstance(fortran, bool):
        raise Malformed("its header has no shape or order")
    if not isinstance(kind, str) or not SIMPLE_TYPE.fullmatch(kind):
        raise Malformed("its entries are not single numbers or texts")
    dtype = np.dtype(kind)
    if dtype.hasobject:
        raise Malformed("it holds Python objects; save numbers and strings")
    if not dtype.itemsize:
        raise Malformed("its entries have no size")
    return shape, fortran, dtype


def read_entries(stream: IO[bytes], header: NpyHeader) -> NDArray[Any]:
    """Read the entries that follow a header; the caller has allowed their size."""
    order: Any = "F" if header.fortran else "C"
    with read_as("its entries cannot be read"):
        array: NDArray[Any] = np.empty(header.shape, dtype=header.dtype, order=order)
        target = array.reshape(-1, order=order).view(np.uint8)
        done = 0
        while done < len(target):
            piece = stream.read(min(PIECE, len(target) - done))
            if not piece:
                raise Malformed(f"it ends after {done} of {len(target)} bytes")
            target[done : done + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            done += len(piece)
    check_bytes(array)
    return array


def check_bytes(array: NDArray[Any]) -> None:
    """Refuse texts and truth values whose bytes stand for none."""
    if array.dtype.kind == "U" and array.size:
        letters = array.reshape(-1, order="A").view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if ((letters > sys.maxunicode) | ((letters >= 0xD800) & (letters < 0xE000))).any():
            raise Malformed("it holds text with characters that do not exist")
    if array.dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise Malformed("it holds booleans that are neither true nor false")


def text_array(texts: Sequence[str]) -> NDArray[np.str_]:
    """Return texts as an array, in which each takes as much room as the longest."""
    longest = max(map(len, texts), default=0)
    if 4 * longest * len(texts) > most_bytes(sum(map(len, texts))):
        raise Malformed(f"one of {len(texts)} texts has {longest} characters, for which all of them would need room")
    return np.array(texts, dtype=str)


def read_array(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Read a .npy file, which must have the size that its header says."""
    with open_file(path) as stream:
        return whole_array(stream, os.fstat(stream.fileno()).st_size)


def parse_array(content: bytes) -> NDArray[Any]:
    """Return the array of a .npy file's content."""
    return whole_array(io.BytesIO(content), len(content))


def whole_array(stream: IO[bytes], size: int) -> NDArray[Any]:
    """Read a header and the entries that fill the rest of a stream."""
    header = read_header(stream)
    if size != header.length + header.nbytes:
        raise Malformed(f"it has {size} bytes, its header promises {header.length + header.nbytes}")
    return read_entries(stream, header)


def check_shape(shape: tuple[int, int], size: int) -> None:
    """Refuse a matrix so tall or wide that vectors along its sides take more memory than a file of this size may claim."""
    if 8 * sum(shape) > most_bytes(size):
        raise Malformed(f"it claims {shape[0]} rows and {shape[1]} columns, too many for {in_bytes(size)} of data")


# Archives


class Archive:
    """An archive of arrays (.npz): its members are read one by one, as long as they claim no more memory than they may."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.size = stream.seek(0, os.SEEK_END)
        self.claimed = 0
        self.members: dict[str, zipfile.ZipInfo] = {}
        with read_as("it is not an archive of arrays"):
            self.file = zipfile.ZipFile(stream)
        for member in self.file.infolist():
            name = member.filename.removesuffix(".npy")
            if name in self.members:
                raise Malformed(f"it has more than one array {quoted(name)}")
            if member.compress_type not in COMPRESSIONS or member.flag_bits & 1:
                raise Malformed(f"array {quoted(name)} is packed in a way that NumPy does not use")
            self.members[name] = member

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.file.close()

    def listed(self) -> str:
        """Return the names of the arrays for a message."""
        shown = ", ".join(quoted(name) for name in list(self.members)[:10])
        return f"{shown}, ..." if len(self.members) > 10 else shown or "none"

    def open(self, name: str) -> tuple[IO[bytes], NpyHeader]:
        """Return the stream of an array's entries, and its header, which must say the size that the array has."""
        member = self.members[name]
        with read_as("it cannot be read", f"array {quoted(name)}: "):
            stream = self.file.open(member)
            header = read_header(stream)
        promised = header.length + header.nbytes
        if member.file_size != promised:
            raise Malformed(f"array {quoted(name)} has {member.file_size} bytes, its header promises {promised}")
        return stream, header

    def read(self, name: str) -> NDArray[Any]:
        """Read an array."""
        self.claimed += self.members[name].file_size
        if self.claimed > most_bytes(self.size):
            raise Malformed(
                f"its arrays take at least {in_bytes(self.claimed)}, too much for a file of {in_bytes(self.size)}; "
                "save it without compression"
            )
        stream, header = self.open(name)
        with read_as("it cannot be read", f"array {quoted(name)}: "), stream:
            array = read_entries(stream, header)
            stream.read(1)  # at the end, the checksum is tested
        return array

    def read_all(self, forms: Mapping[str, Form]) -> dict[str, NDArray[Any]]:
        """Read all arrays once each is known by name and has the type and shape that its form says."""
        sizes: dict[str, int] = {}
        for name in self.members:
            if name not in forms:
                raise Malformed(f"it has an array {quoted(name)}, which does not belong there")
            stream, header = self.open(name)
            stream.close()
            forms[name].check_header(name, header.dtype, header.shape, sizes)
        return {name: self.read(name) for name in self.members}


@dataclass(frozen=True)
class Form:
    """The form that an array must have.

    Attributes
    ----------
    kinds : letters of NumPy's kinds of types: "i", "f", "U" and so on
    shape : a name (the same size wherever it stands) or a number for each dimension; None: any shape
    low, high : every entry is at least `low` and below `high`, which may be the name of a size; None: no limit
    finite : no entry is NaN or infinite
    ascending : every entry is larger than the one before
    starts_of : the array that these numbers divide into parts: they begin with 0, never fall, and end with its length

    """

    kinds: str
    shape: tuple[str | int, ...] | None
    low: float | None = None
    high: float | str | None = None
    finite: bool = False
    ascending: bool = False
    starts_of: str | None = None

    def check_header(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], sizes: dict[str, int]) -> None:
        """Check type and shape; sizes that are met for the first time are added to `sizes`."""
        if dtype.kind not in self.kinds:
            raise Malformed(f"{name} has the wrong type {quoted(dtype.str)}")
        if self.shape is None:
            return
        wanted = [
            size if isinstance(size, int) else sizes.get(size, found) for size, found in zip(self.shape, shape, strict=False)
        ]
        if len(self.shape) != len(shape) or wanted != list(shape):
            raise Malformed(f"{name} has the wrong shape {quoted(shape)}")
        sizes |= {size: found for size, found in zip(self.shape, shape, strict=True) if isinstance(size, str)}

    def check_entries(
        self, name: str, array: NDArray[Any], arrays: Mapping[str, NDArray[Any]], sizes: Mapping[str, int]
    ) -> None:
        """Check the range and the order of the entries."""
        high = sizes[self.high] if isinstance(self.high, str) else self.high
        if self.finite and not np.isfinite(array).all():
            raise Malformed(f"{name} has entries that are not finite")
        if (self.low is not None and (array < self.low).any()) or (high is not None and (array >= high).any()):
            raise Malformed(f"{name} has entries out of range")
        if self.ascending and (array[1:] <= array[:-1]).any():
            raise Malformed(f"{name} is not in ascending order")
        if self.starts_of is not None:
            whole = len(arrays[self.starts_of])
            if not len(array) or array[0] != 0 or (array[1:] < array[:-1]).any() or array[-1] != whole:
                raise Malformed(f"{name} does not divide {self.starts_of} into parts")


def read_archive(path: str | os.PathLike[str], forms: Mapping[str, Form]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read an archive of arrays with these forms, and its `header`, an object of JSON that an array of bytes holds."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise Malformed("it is not a file")
    with open(path, "rb") as stream, Archive(stream) as archive:
        arrays = archive.read_all({"header": Form("u", ("letters",)), **forms})
    header = parse_json(arrays.pop("header").tobytes()) if "header" in arrays else None
    if not isinstance(header, dict):
        raise Malformed("it has no header")
    return header, arrays


def check_forms(arrays: Mapping[str, NDArray[Any]], forms: Mapping[str, Form], sizes: Mapping[str, int]) -> dict[str, int]:
    """Check that there is an array of each form; return all sizes, of which some are known."""
    if missing := sorted(forms.keys() - arrays.keys()):
        raise Malformed(f"{missing[0]} is missing")
    found = dict(sizes)
    for name, form in forms.items():
        form.check_header(name, arrays[name].dtype, arrays[name].shape, found)
    for name, form in forms.items():
        form.check_entries(name, arrays[name], arrays, found)
    return found
