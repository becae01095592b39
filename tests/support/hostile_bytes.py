"""Damages that fit many formats: of bytes, of JSON, of arrays and of archives of arrays; each is a function of good content."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

RAN = "ran-code"  # a file that appears if anything that is loaded runs
BOMB = 320 << 20  # bytes that a small member of an archive unpacks to


class Kind(NamedTuple):
    """A kind of hostile file: how it is made at a path, and how it is read, which returns or raises a refusal."""

    write: Callable[[Path], None]
    read: Callable[[Path], str]


class Payload:
    """An object whose pickle would make a file when it is loaded."""

    def __reduce__(self):
        return os.mkdir, (RAN,)


def bytes_kinds(good: bytes) -> dict[str, bytes]:
    """Damages of any binary file."""
    middle = bytearray(good)
    for at in range(len(good) // 3, len(good) // 3 + 100):  # more than the header of a member, parts of which nobody reads
        middle[at % len(good)] ^= 0xFF
    return {
        "empty": b"",
        "one byte": good[:1],
        "half": good[: len(good) // 2],
        "its end cut off": good[:-30],
        "its beginning cut off": good[1:],
        "zeros": bytes(len(good)),
        "bytes by chance": np.random.default_rng(1).bytes(len(good)),
        "words": b"no such thing\x1b[2J\n",
        "a pickle": pickle.dumps(Payload()),
        "compressed": gzip.compress(good),
        "bytes overwritten": bytes(middle),
    }


def place_kinds(read: Callable[[Path], str]) -> dict[str, Kind]:
    """Paths that lead to no file of data."""
    return {
        "a folder": Kind(lambda path: path.mkdir(), read),
        "a link to itself": Kind(lambda path: path.symlink_to(path.name), read),
        "a link to a folder": Kind(lambda path: path.symlink_to("."), read),
        "a link to an endless device": Kind(lambda path: path.symlink_to("/dev/zero"), read),
    }


def json_kinds(good: bytes) -> dict[str, bytes]:
    """Damages of a file of JSON that holds an object."""
    first = good[: good.index(b":")].strip().lstrip(b"{").strip()
    return {
        "nested deep": b"[" * 100_000 + b"]" * 100_000,
        "objects nested deep": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        "nested a little": good.replace(b":", b":[[[[[[[[[[1]]]]]]]]]],", 1)[: good.index(b":") + 26] + b"}",
        "a name twice": good.replace(b"{", b"{" + first + b": 1, ", 1),
        "NaN": good.replace(b"{", b'{"more": NaN, ', 1),
        "infinite": good.replace(b"{", b'{"more": -Infinity, ', 1),
        "number too large": good.replace(b"{", b'{"more": 1e999, ', 1),
        "many digits": good.replace(b"{", b'{"more": ' + b"9" * 100_000 + b", ", 1),
        "half": good[: len(good) // 2],
        "more after the end": good + b"{}",
        "other encoding": good.decode().encode("utf-16"),
        "no encoding": good.replace(b"{", b'{"\xff\xfe": 1, ', 1),
        "list": b"[" + good + b"]",
        "null": b"null",
        "empty": b"",
        "codes": b'{"format": "\\u001b[2J\\u202e"}',
        "millions of lists": b"[" + b"[]," * 2_000_000 + b"[]]",
    }


def npy(descr: object, shape: object, data: bytes = b"", fortran: object = False, version: int = 1) -> bytes:
    """Return a .npy file that says this in its header."""
    text = repr({"descr": descr, "fortran_order": fortran, "shape": shape}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def npy_of(array: np.ndarray) -> bytes:
    """Return an array as a .npy file."""
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npy_kinds(good: np.ndarray) -> dict[str, bytes]:
    """Damages of a .npy file of numbers."""
    data, descr, shape = good.tobytes(), good.dtype.str, good.shape
    pickled = io.BytesIO()
    np.save(pickled, np.array([Payload()] * 3, dtype=object), allow_pickle=True)
    whole = npy(descr, shape, data)
    longer = (shape[0] + 1, *shape[1:])
    return {
        "empty": b"",
        "its header cut off": whole[:40],
        "its entries cut off": whole[:-1],
        "version": npy(descr, shape, data, version=9),
        "shape far too large": npy(descr, (10**12,) * len(shape), data),
        "shape larger than the data": npy(descr, longer, data),
        "shape that wraps around": npy(descr, (2**32, 2**32), data),
        "negative shape": npy(descr, (-1, *shape[1:]), data),
        "shape of fractions": npy(descr, (2.5, *shape[1:]), data),
        "shape of truth values": npy(descr, (True, *shape[1:]), data),
        "shape no tuple": npy(descr, list(shape), data),
        "many dimensions": npy(descr, (1,) * 100, data),
        "order": npy(descr, shape, data, fortran="yes"),
        "pickled objects": pickled.getvalue(),
        "objects without a pickle": npy("|O", shape, data),
        "records": npy([("a", "<f8"), ("b", "<f8")], shape, data),
        "type with a size far too large": npy("<U100000000", shape, data),
        "no such type": npy("<q77", shape, data),
        "type of nothing": npy("|V0", shape, data),
        "header of code": whole[:10] + b"__import__('os').mkdir('" + RAN.encode() + b"')".ljust(94) + whole[128:],
        "header nested": whole[:10] + (b"(" * 59 + b")" * 59) + whole[128:],
        "header that claims more": b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + whole[10:],
        "dates": npy("<M8[ns]", shape, data),
        "complex": npy("<c8", shape, data),
    }


def archive(members: dict[str, bytes], packing: int = zipfile.ZIP_STORED) -> bytes:
    """Return an archive with these members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as file:
        for name, content in members.items():
            file.writestr(name if name.endswith(".npy") else f"{name}.npy", content)
    return out.getvalue()


def members_of(content: bytes) -> dict[str, bytes]:
    """Return the members of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name.removesuffix(".npy"): file.read(name) for name in file.namelist()}


def with_bomb(members: dict[str, bytes], name: str, shape: tuple[int, ...]) -> bytes:
    """Return an archive in which one member is small and unpacks to hundreds of megabytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for other, content in members.items():
            if other != name:
                file.writestr(f"{other}.npy", content)
        with file.open(f"{name}.npy", "w") as stream:
            stream.write(npy("<f8", shape))
            for _ in range(BOMB >> 20):
                stream.write(bytes(1 << 20))
    return out.getvalue()


def twice(members: dict[str, bytes], name: str) -> bytes:
    """Return an archive that has one member twice, under names of which one has the ending and one has not."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for other, content in members.items():
            file.writestr(f"{other}.npy", content)
        file.writestr(name, members[name])
    return out.getvalue()


def directory_with(content: bytes, offset: int, change: bytes, size: int = 0) -> bytes:
    """Overwrite bytes of every entry of an archive's directory, from an offset in the entry on."""
    out, at = bytearray(content), content.find(b"PK\x01\x02")
    while at >= 0:
        out[at + offset : at + offset + len(change)] = change
        at = content.find(b"PK\x01\x02", at + 4)
    return bytes(out[: len(out) - size])


def archive_kinds(good: bytes, name: str) -> dict[str, bytes]:
    """Damages of an archive of arrays, mostly by means of one member."""
    members = members_of(good)

    def holding(content: bytes) -> bytes:
        return archive({**members, name: content})

    plain = np.load(io.BytesIO(members[name]))
    kinds = npy_kinds(plain if plain.ndim else plain.reshape(1))
    chosen = (
        "its entries cut off",
        "shape far too large",
        "shape that wraps around",
        "negative shape",
        "pickled objects",
        "records",
        "header of code",
        "version",
        "complex",
        "empty",
    )
    row = plain.shape[1:]
    bomb = (BOMB // 8 // max(1, int(np.prod(row))), *row)  # a shape that such an array may have
    damaged = bytearray(good)
    at = good.index(members[name][-8:]) if len(members[name]) > 8 else len(good) // 3
    damaged[at] ^= 1
    return {
        **{f"member: {what}": holding(kinds[what]) for what in chosen},
        "bomb": with_bomb(members, name, bomb),
        "a member twice": twice(members, name),
        "packed by bzip2": archive(members, zipfile.ZIP_BZIP2),
        "packed by nothing known": directory_with(good, 10, b"\x63\x00"),
        "encrypted": directory_with(good, 8, b"\x01\x00"),
        "sizes of the directory": directory_with(good, 24, b"\xff\xff\xff\x7f"),
        "places of the directory": directory_with(good, 42, b"\xff\xff\xff\x7f"),
        "one bit of an array": bytes(damaged),
        "no members": archive({}),
        "names that lead elsewhere": archive({f"../../{other}": content for other, content in members.items()}),
        "names of codes": archive({f"\x1b[2J{other}": content for other, content in members.items()}),
    }
