"""Changes of files: of single bytes, of text, of JSON, of archives and of the arrays inside them."""

from __future__ import annotations

import ast
import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["change_file", "changed_bytes"]

Generator = np.random.Generator
NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
TOKENS = (
    b"\x00",
    b"\n",
    b"\r",
    b",",
    b'"',
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"NaN",
    b"inf",
    b"1e999",
    b"-",
    b"{",
    b"[",
    b"]",
    b"1:",
    b"\x1b[2J",
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    10**30,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x" * 5000,
    [],
    [[[[1]]]],
    {},
    {"a": 1},
)
BOMB = 512 << 20  # bytes that a small member of an archive unpacks to
SHAPES = ((0,), (1,), (10**12,), (2**63,), (-1,), (3, 3), (), (2**31, 2**31), (10**6, 10**6))
TYPES = (
    "<f8",
    "<f4",
    ">f8",
    "<i8",
    "<i4",
    "|u1",
    "|O",
    "<U4",
    "<c16",
    "|V8",
    "<f16",
    "|b1",
    "<M8[ns]",
    "|S3",
    "<U100000000",
    "[('a','<f8')]",
)


def change_file(path: Path, rng: Generator) -> str:
    """Change a file, or one of the files of a folder, in place; return what was done."""
    if path.is_dir():
        if rng.random() < 0.1:
            return change_folder(path, rng)
        path = path / str(rng.choice(sorted(file.name for file in path.iterdir())))
    data, words = path.read_bytes(), []
    for _ in range(int(rng.choice([1, 2, 4], p=[0.6, 0.25, 0.15]))):
        data, what = changed_bytes(data, rng)
        words.append(what)
    path.write_bytes(data)
    return f"{path.name}: {', '.join(words)}"


def change_folder(path: Path, rng: Generator) -> str:
    """Remove, empty, exchange or replace a file of a folder."""
    files = sorted(path.iterdir())
    file, way = files[int(rng.integers(len(files)))], int(rng.integers(4))
    if way == 0:
        file.unlink()
    elif way == 1:
        file.write_bytes(b"")
    elif way == 2:
        file.write_bytes(files[int(rng.integers(len(files)))].read_bytes())
    else:
        file.unlink()
        file.mkdir()
    return f"{file.name}: way {way}"


def changed_bytes(data: bytes, rng: Generator) -> tuple[bytes, str]:
    """Return other bytes, and what was done to them; structure is changed where there is some."""
    ways: list[Callable[[bytes, Generator], bytes]] = [flip, cut, insert, overwrite, repeat, write_number]
    if data[:2] == b"PK":
        ways += [change_archive] * 14
    elif data[:6] == b"\x93NUMPY":
        ways += [change_array] * 8
    elif data[:1] in (b"{", b"["):
        ways += [change_json] * 10
    elif b"\n" in data and b"\x00" not in data:
        ways += [change_text] * 6
    way = ways[int(rng.integers(len(ways)))]
    try:
        return way(data, rng), way.__name__
    except Exception:  # earlier changes left nothing of the structure
        return flip(data, rng), f"{way.__name__}: flip"


def flip(data: bytes, rng: Generator) -> bytes:
    """Flip bits of a few bytes."""
    out = bytearray(data)
    for at in rng.integers(len(out), size=int(rng.choice([1, 3, 20]))) if out else []:
        out[at] ^= 1 << int(rng.integers(8))
    return bytes(out)


def cut(data: bytes, rng: Generator) -> bytes:
    """Cut off the end, the beginning or a piece of the middle."""
    first, last = sorted(rng.integers(len(data) + 1, size=2).tolist())
    return (data[:first], data[last:], data[:first] + data[last:])[int(rng.integers(3))]


def insert(data: bytes, rng: Generator) -> bytes:
    """Put in a token or random bytes."""
    at = int(rng.integers(len(data) + 1))
    new = TOKENS[int(rng.integers(len(TOKENS)))] if rng.random() < 0.6 else rng.bytes(int(rng.integers(1, 50)))
    return data[:at] + new + data[at:]


def overwrite(data: bytes, rng: Generator) -> bytes:
    """Overwrite a range by zeros or ones."""
    first, last = sorted(rng.integers(len(data) + 1, size=2).tolist())
    last = min(last, first + 64)
    return data[:first] + (b"\x00", b"\xff")[int(rng.integers(2))] * (last - first) + data[last:]


def repeat(data: bytes, rng: Generator) -> bytes:
    """Repeat a range."""
    first, last = sorted(rng.integers(len(data) + 1, size=2).tolist())
    return data[:last] + data[first:last] * int(rng.choice([1, 2, 10])) + data[last:]


def write_number(data: bytes, rng: Generator) -> bytes:
    """Overwrite some bytes by an integer at the end of a type's range."""
    size = int(rng.choice([1, 2, 4, 8]))
    at = int(rng.integers(max(len(data) - size, 1)))
    number = NUMBERS[int(rng.integers(len(NUMBERS)))] % 256**size
    return data[:at] + number.to_bytes(size, "little") + data[at + size :]


def change_text(data: bytes, rng: Generator) -> bytes:
    """Change lines and fields of a table."""
    lines = data.split(b"\n")
    at, way = int(rng.integers(len(lines))), int(rng.integers(8))
    fields = lines[at].replace(b" ", b",").split(b",")
    column = int(rng.integers(len(fields)))
    odd = (
        b"",
        b"nan",
        b"1e400",
        b"-inf",
        b"0x10",
        b"1_000",
        b"x" * 70000,
        b'"',
        b"99999999999:1",
        b"100000000:1",
        b"\xff",
        b"=1+1",
    )
    if way == 0:
        lines.insert(at, lines[int(rng.integers(len(lines)))])
    elif way == 1:
        lines.pop(at)
    elif way == 2:
        fields[column] = odd[int(rng.integers(len(odd)))]
        lines[at] = (b" " if b":" in data else b",").join(fields)
    elif way == 3:
        lines[at] = lines[at] + b"," + TOKENS[int(rng.integers(len(TOKENS)))]
    elif way == 4:
        return data.replace(b"\n", (b"\r\n", b"\r", b"\n\n")[int(rng.integers(3))])
    elif way == 5:
        return data.decode("utf-8", "replace").encode(("utf-16", "utf-32", "utf-8-sig")[int(rng.integers(3))])
    elif way == 6:
        lines[at] = lines[at] * 500
    else:
        return b"\n".join(lines[:1] + [b",".join([b""] * len(fields))] * 20)
    return b"\n".join(lines)


def change_json(data: bytes, rng: Generator) -> bytes:
    """Change a value, a key or the nesting of JSON."""
    if rng.random() < 0.1:
        depth = int(rng.choice([50, 3000, 200000]))
        return (b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth)[int(rng.integers(2))]
    value = json.loads(data)
    holder, key = place_in(value, rng)
    way = rng.random()
    if way < 0.6:
        holder[key] = VALUES[int(rng.integers(len(VALUES)))]
    elif way < 0.7:
        del holder[key]
    elif way < 0.85 and isinstance(holder[key], (int, float)):
        holder[key] = holder[key] * float(rng.choice([2.0, -1.0, 0.5, 1e6]))
    elif isinstance(holder, dict):
        holder[str(rng.choice(["unknown", "", "n", "\x1b[31m"]))] = holder[key]
    text = json.dumps(value)
    if rng.random() < 0.1:  # a key twice
        text = text.replace("{", '{"format": "other", ', 1)
    return text.encode()


def place_in(value: Any, rng: Generator) -> tuple[Any, Any]:
    """Return a dictionary or list inside a value of JSON, and a key of it."""
    holder, key = [value], 0
    while isinstance(holder[key], (dict, list)) and holder[key] and (holder[key] is value or rng.random() < 0.5):
        holder = holder[key]
        key = (list(holder) if isinstance(holder, dict) else range(len(holder)))[int(rng.integers(len(holder)))]
    return holder, key


def change_array(data: bytes, rng: Generator) -> bytes:
    """Change the header of a .npy file, its numbers, or both, and keep the rest."""
    length = struct.unpack("<H", data[8:10])[0]
    header, body = ast.literal_eval(data[10 : 10 + length].decode("latin1")), data[10 + length :]
    way = int(rng.integers(6))
    if way == 0:
        header["shape"] = SHAPES[int(rng.integers(len(SHAPES)))]
    elif way == 1:
        header["descr"] = TYPES[int(rng.integers(len(TYPES)))]
    elif way == 2:
        header["fortran_order"] = not header["fortran_order"]
    elif way == 3:
        name = str(rng.choice(list(header)))
        header[name] = VALUES[int(rng.integers(len(VALUES)))]
    elif way == 4:
        body = changed_numbers(header, body, rng)
    else:
        header["shape"] = tuple(size + int(rng.integers(-1, 2)) for size in header["shape"])
    text = repr(header).encode("latin1", "replace")
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return data[:8] + struct.pack("<H", len(text) % 65536) + text + body


def changed_numbers(header: dict[str, Any], body: bytes, rng: Generator) -> bytes:
    """Return the numbers of an array with some replaced, permuted, or at the ends of their type."""
    array = np.frombuffer(body, dtype=header["descr"]).copy()
    at = rng.integers(len(array), size=int(rng.choice([1, 2, 8])))
    if array.dtype.kind == "f":
        array[at] = rng.choice([0.0, -1.0, np.nan, np.inf, 1e308, 5e-324, 1.0])
    elif array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        array[at] = array[at] + 1 if rng.random() < 0.4 else int(rng.choice([info.min, info.max, 0, info.max // 2]))
    else:
        array[at] = array[::-1][at]
    return array.tobytes() if rng.random() < 0.8 else rng.permutation(array).tobytes()


def change_archive(data: bytes, rng: Generator) -> bytes:
    """Change a member of an archive: its bytes, its structure, its name, its compression; drop it, double it, or add a bomb."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    at, way = int(rng.integers(len(members))), rng.random()
    name, content = members[at]
    if way < 0.65:
        if name.startswith("header") and rng.random() < 0.8:
            content = changed_header(content, rng)
        else:
            content = changed_bytes(content, rng)[0]
        members[at] = name, content
    elif way < 0.73:
        members.pop(at)
    elif way < 0.8:
        members.append((name, content))
    elif way < 0.86:
        members[at] = str(rng.choice(["../evil.npy", "/etc/x.npy", "header.npy", "X.npy", "", "alpha", "x" * 3000])), content
    elif way < 0.985:
        members.append((f"extra{int(rng.integers(9))}.npy", content))
    else:
        return with_bomb(members)
    out = io.BytesIO()
    packing = int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]))
    with zipfile.ZipFile(out, "w", packing) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def with_bomb(members: list[tuple[str, bytes]]) -> bytes:
    """Return an archive with one more member, which is small and says that it is large."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members:
            archive.writestr(name, content)
        with archive.open("bomb.npy", "w") as stream:
            stream.write(npy_header("<f8", (BOMB // 8,)))
            for _ in range(BOMB >> 20):
                stream.write(bytes(1 << 20))
    return out.getvalue()


def changed_header(content: bytes, rng: Generator) -> bytes:
    """Return the member with the JSON header of a certificate or checkpoint, changed as JSON."""
    array = np.load(io.BytesIO(content), allow_pickle=False)
    text = np.frombuffer(change_json(array.tobytes(), rng), dtype=np.uint8)
    return npy_header("|u1", text.shape) + text.tobytes()


def npy_header(descr: str, shape: tuple[int, ...]) -> bytes:
    """Return the first bytes of a .npy file."""
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text
