"""The reader that all formats share: limits that hold before anything is read, and clauses that quote nothing raw."""

import io
import json
import os
import struct
import zipfile

import numpy as np
import pytest

from ellzero.base import reading
from ellzero.base.quoting import one_line, quoted
from ellzero.base.reading import Archive, Form, Malformed, check_forms, parse_json, read_array, read_bytes, read_header

DEEP = 100_000
BAD_JSON = {
    "empty": (b"", "it is no JSON"),
    "cut off": (b'{"a": [1, 2', "it is no JSON"),
    "two values": (b"1 2", "it is no JSON"),
    "other encoding": (b'"\xe9"', "it is no JSON"),
    "nan": (b"[NaN]", "it contains NaN"),
    "infinite": (b"[-Infinity]", "it contains -Infinity"),
    "too large a number": (b"[1e999]", "a number that is too large"),
    "too long an integer": (b"1" * 5000, "an integer of 5000 digits"),
    "twice": (b'{"a": 1, "b": 2, "a": 3}', "the name 'a' twice in one object"),
    "deep": (b"[" * DEEP + b"]" * DEEP, "nested more than 8 deep"),
    "deep objects": (b'{"a":' * 9 + b"1" + b"}" * 9, "nested more than 8 deep"),
}


@pytest.mark.parametrize("case", BAD_JSON)
def test_json_that_is_refused(case):
    content, clause = BAD_JSON[case]
    with pytest.raises(Malformed, match=clause) as caught:
        parse_json(content)
    assert len(str(caught.value)) < 500


def test_json_as_it_should_be():
    value = {"a": [1, -2.5, None, True, "é\U0001f600"], "b": {"c": [[], {}]}}
    assert parse_json(json.dumps(value).encode()) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value
    assert parse_json(b"[" * 8 + b"]" * 8)


@pytest.mark.parametrize("unit", [b"[],", b"{},", b'"a\xc3\xa9",', b"12345,", b'{"":0},'], ids=repr)
def test_json_that_would_take_much_memory(unit, monkeypatch):
    """The estimate is above what Python takes, and below ten times the text where the text is ordinary."""
    import tracemalloc

    content = b"[" + unit * 20_000 + b"0]"
    allowed = []
    monkeypatch.setattr(reading, "most_bytes", lambda size: allowed[0])
    tracemalloc.start()
    allowed.append(1 << 40)
    parse_json(content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    allowed[0] = peak // 2
    with pytest.raises(Malformed, match="its JSON would take"):
        parse_json(content)
    names = json.dumps([f"feature {j}" for j in range(20_000)]).encode()
    allowed[0] = 10 * len(names)
    parse_json(names)


def test_pipes_are_read_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(reading, "LEAST_ALLOWED", 1000)
    for size in (1000, 1001):
        end, start = os.pipe()
        os.write(start, bytes(size))
        os.close(start)
        if size <= 1000:
            assert read_bytes(f"/dev/fd/{end}") == bytes(size)
        else:
            with pytest.raises(Malformed, match="it continues after 1 kB"):
                read_bytes(f"/dev/fd/{end}")
        os.close(end)


def test_what_is_no_file_is_not_opened(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    for path, reason in (
        ("/dev/zero", "a device"),
        (tmp_path, "a folder"),
        (tmp_path / "loop", "a symbolic link"),
    ):
        with pytest.raises(Malformed, match=f"it is {reason}"):
            read_bytes(path)


def npy(array=None, **changes):
    """The bytes of a .npy file, whose header may lie."""
    array = np.arange(6.0).reshape(2, 3) if array is None else array
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape} | changes
    text = changes["text"] if "text" in changes else f"{header}\n".encode()
    version = changes.get("version", (1, 0))
    length = changes.get("length", len(text))
    return reading.MAGIC + bytes(version) + struct.pack("<H" if version[0] == 1 else "<I", length) + text + array.tobytes()


BAD_HEADERS = {
    "nothing": (b"", "it is not a NumPy array"),
    "other magic": (b"\x93NUMPZ" + npy()[6:], "it is not a NumPy array"),
    "version": (npy(version=(4, 0)), "of version 4.0"),
    "long": (npy(version=(2, 0), length=10**9), "its header claims 1000000000 bytes"),
    "cut off": (npy()[:40], "it ends inside its header"),
    "no dictionary": (npy(text=b"[1]"), "does not say type, order and shape"),
    "no python": (npy(text=b"{'descr': '<f8"), "its header cannot be read"),
    "code": (npy(text=b"__import__('os').system('true')"), "its header cannot be read"),
    "nested": (npy(text=b"(" * 5000), "its header is nested"),
    "text as order": (npy(fortran_order="no"), "has no shape or order"),
    "negative": (npy(shape=(-2, -3)), "has no shape or order"),
    "fraction": (npy(shape=(2.0, 3)), "has no shape or order"),
    "truth value as size": (npy(shape=(True, 6)), "has no shape or order"),
    "dimensions": (npy(shape=(1,) * 100), "has no shape or order"),
    "digits": (npy(text=b"{'shape': (" + b"9" * 5000 + b",)}"), "its header cannot be read"),
    "structured": (npy(descr=[("a", "<f8")]), "not single numbers or texts"),
    "subarray": (npy(descr="(1000000,)f8"), "not single numbers or texts"),
    "unknown type": (npy(descr="<q9"), "its header cannot be read"),
}


@pytest.mark.parametrize("case", BAD_HEADERS)
def test_headers_that_are_refused(case):
    content, clause = BAD_HEADERS[case]
    with pytest.raises(Malformed, match=clause):
        read_header(io.BytesIO(content))


BAD_ARRAYS = {
    "objects": (npy(descr="|O"), "it holds Python objects"),
    "short": (npy()[:-1], "it has 115 bytes, its header promises 116"),
    "long": (npy() + b"0", "its header promises"),
    "wrapped": (npy(shape=(2**32, 2**32)), "its header promises 147573952589676413014"),
    "no size": (npy(np.zeros(0), descr="<U0", shape=(10**12,)), "its entries have no size"),
    "text": (npy(np.array([2**31, 65], dtype="<u4"), descr="<U2", shape=(1,)), "characters that do not exist"),
    "half a character": (npy(np.array([0xD800], dtype="<u4"), descr="<U1", shape=(1,)), "characters that do not exist"),
    "truth": (npy(np.array([0, 2], dtype=np.int8), descr="|b1"), "neither true nor false"),
}


@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_arrays_that_are_refused(case, tmp_path):
    content, clause = BAD_ARRAYS[case]
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(Malformed, match=clause):
        read_array(tmp_path / "x.npy")


ARRAYS = {
    "numbers": np.random.default_rng(0).standard_normal((3, 4)),
    "columns": np.asfortranarray(np.random.default_rng(0).standard_normal((3, 4))),
    "text": np.array(["a", "é", "\U0001f600"]),
    "truth": np.array([True, False]),
    "big-endian": np.arange(3, dtype=">i2"),
    "scalar": np.array(3.0),
    "none": np.zeros((0, 5), dtype=np.float32),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_as_they_should_be(name, tmp_path):
    np.save(tmp_path / "x.npy", ARRAYS[name])
    found = read_array(tmp_path / "x.npy")
    np.testing.assert_array_equal(found, ARRAYS[name])
    assert (found.dtype, found.flags.f_contiguous) == (ARRAYS[name].dtype, ARRAYS[name].flags.f_contiguous)


def archive(write, **arrays):
    """An archive with these members, packed as np.savez_compressed does."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as file:
        write(file)
    return Archive(stream)


def test_archives_that_claim_too_much_are_not_read():
    packed = archive(lambda file: None, a=np.zeros(1 << 21), b=np.zeros(15 << 20))
    assert packed.size < 1 << 20
    assert packed.read("a").shape == (1 << 21,)
    with pytest.raises(Malformed, match=r"its arrays take at least 143 MB, too much for a file of .* kB"):
        packed.read("b")


@pytest.mark.parametrize(
    ("write", "clause"),
    [
        (lambda file: file.writestr("a.npy", npy()), "more than one array 'a'"),
        (lambda file: file.writestr("b.npy", npy(shape=(2**40,))), "its header promises 8796093022"),
        (lambda file: file.writestr("b.npy", npy(), zipfile.ZIP_LZMA), "array 'b' is packed in a way that NumPy does not use"),
        (lambda file: file.writestr("\x1b[31m.npy", npy()), r"it has an array '\\x1b\[31m', which does not belong there"),
        (lambda file: file.writestr("b.npy", npy(np.zeros(3, np.int64))), "b has the wrong type '<i8'"),
        (lambda file: file.writestr("b.npy", npy(np.zeros((2, 3)))), r"b has the wrong shape \(2, 3\)"),
        (lambda file: file.writestr("b.npy", npy(np.zeros(3))), r"b has the wrong shape \(3,\)"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_are_refused(write, clause):
    with pytest.raises(Malformed, match=clause):
        archive(write, a=np.zeros(5)).read_all({"a": Form("f", ("n",)), "b": Form("f", ("n",))})


def test_a_damaged_member():
    stream = io.BytesIO()
    np.savez(stream, a=np.arange(1000.0))
    content = bytearray(stream.getvalue())
    content[4000] ^= 8
    with pytest.raises(Malformed, match=r"array 'a': its entries cannot be read .*Bad CRC"):
        Archive(io.BytesIO(content)).read("a")
    with pytest.raises(Malformed, match="it is not an archive of arrays"):
        Archive(io.BytesIO(content[:-30]))


FORMS = {
    "values": Form("f", ("parts",), finite=True),
    "starts": Form("i", ("one more",), starts_of="values"),
    "columns": Form("i", ("k",), low=0, high="p", ascending=True),
}
GOOD = {"values": np.ones(5), "starts": np.array([0, 2, 2, 5]), "columns": np.array([0, 3, 9])}
BAD_ENTRIES = {
    "missing": ({"values": None}, "values is missing"),
    "type": ({"values": np.ones(5, int)}, "values has the wrong type"),
    "infinite": ({"values": np.array([0, 0, 0, 0, np.inf])}, "values has entries that are not finite"),
    "starts late": ({"starts": np.array([1, 2, 5])}, "starts does not divide values into parts"),
    "ends early": ({"starts": np.array([0, 2, 4])}, "starts does not divide values into parts"),
    "ends late": ({"starts": np.array([0, 2, 6])}, "starts does not divide values into parts"),
    "falls": ({"starts": np.array([0, 3, 2, 5])}, "starts does not divide values into parts"),
    "no starts": ({"starts": np.zeros(0, int)}, "starts does not divide values into parts"),
    "negative": ({"columns": np.array([-1, 3])}, "columns has entries out of range"),
    "too large": ({"columns": np.array([3, 10])}, "columns has entries out of range"),
    "twice": ({"columns": np.array([3, 3])}, "columns is not in ascending order"),
}


@pytest.mark.parametrize("case", BAD_ENTRIES)
def test_entries_that_are_refused(case):
    assert check_forms(GOOD, FORMS, {"p": 10}) == {"p": 10, "parts": 5, "one more": 4, "k": 3}
    changes, clause = BAD_ENTRIES[case]
    arrays = {name: array for name, array in (GOOD | changes).items() if array is not None}
    with pytest.raises(Malformed, match=clause):
        check_forms(arrays, FORMS, {"p": 10})


def test_quotations():
    assert quoted("a" * 10**6) == f"'{'a' * 60}'..."
    assert len(quoted(["a" * 10**6] * 10**5)) < 1000
    assert len(quoted({"a" * 10**6: 1})) < 1000
    assert quoted("\x1b[2J\u202e") == r"'\x1b[2J\u202e'"
    assert one_line("a\n b\x1b[2J" + "c" * 10**6).startswith(r"a b\x1b[2Jccc")
    assert len(one_line("c" * 10**6)) == 300
    assert one_line("ends.") == "ends"
