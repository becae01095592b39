"""Hostile tables and matrices, as the conversion to column stores and the command line read them."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

import ellzero as ez
from ellzero.cli import main
from support.hostile_bytes import Kind, archive, archive_kinds, bytes_kinds, members_of, npy, npy_kinds, npy_of, place_kinds
from support.hostile_proofs import array_of, written
from support.hostile_stores import X, Y

ROWS = [",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), np.array(["no", "yes"])[Y], strict=True)]
TABLE = "\n".join([",".join([*(f"x{j}" for j in range(8)), "target"]), *ROWS, ""]).encode()
LINES = [
    " ".join([str(label), *(f"{j + 1}:{value!r}" for j, value in enumerate(row))])
    for row, label in zip(X.tolist(), Y, strict=True)
]
SPARSE = "\n".join([*LINES, ""]).encode()
PIECE, PIECES = 1 << 20, 400  # bytes of text in a small compressed file


STRICT = ("--impute", "none", "--no-one-hot")  # nothing is filled, and no text is coded


def converter(target: str | None = None) -> Callable[[Path], str]:
    """Return a function that converts a file into a column store, of which nothing may be left if it is refused."""

    def read(path: Path) -> str:
        out = path.with_name("out.columns")
        try:
            ez.convert(path, out, target=target)
        except BaseException:
            left = [other.name for other in path.parent.iterdir() if other.name.startswith((".out", "out"))]
            assert not left, left
            raise
        return "it was read"

    return read


def commander(*more: str) -> Callable[[Path], str]:
    """Return a function that fits on a file by the command line, whose error must be one line and end with code 2."""

    def read(path: Path) -> str:
        said, shown = io.StringIO(), io.StringIO()
        argv = ["fit", str(path), "--k", "2", "--out", str(path.with_name("model.json")), "--quiet", *STRICT, *more]
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(said):
            code = main(argv)
        if code == 0:
            return "it was read"
        error = said.getvalue()
        assert (code, shown.getvalue(), error.count("\n")) == (2, "", 1), (code, shown.getvalue(), error)
        assert error.startswith("ellzero: error: ")
        return error.strip()

    return read


CONVERT, COMMAND = converter("target"), commander("--target", "target")


def both(contents: dict[str, bytes], readers: dict[str, Callable[[Path], str]]) -> dict[str, Kind]:
    """Kinds of files, each read in several ways."""
    return {
        f"{what} ({way})": Kind(written(content), read) for what, content in contents.items() for way, read in readers.items()
    }


BOTH = {"convert": CONVERT, "fit": COMMAND}


def with_field(text: bytes, line: int = 3) -> bytes:
    """Return the table with another first field in one line."""
    lines = TABLE.split(b"\n")
    lines[line] = text + b"," + lines[line].partition(b",")[2]
    return b"\n".join(lines)


def texts() -> dict[str, bytes]:
    """Damages of a table of text."""
    header = TABLE.partition(b"\n")[0]
    return {
        "empty": b"",
        "line breaks only": b"\n" * 1000,
        "header only": header + b"\n",
        "zeros": bytes(5000),
        "bytes by chance": np.random.default_rng(3).bytes(5000),
        "a column twice": TABLE.replace(b"x1", b"x0", 1),
        "a name of codes twice": TABLE.replace(b"x0,x1", b"\x1b[2Jx,\x1b[2Jx", 1),
        "no target": TABLE.replace(b"target", b"\x1b]0;owned\x07", 1),
        "no target in a long header": TABLE.replace(b"target", b"t" * 1_000_000, 1),
        "target alone": b"target\n" + b"yes\nno\n" * 20,
        "too many fields": TABLE.replace(b"\n", b",1,2\n").replace(b",1,2\n", b"\n", 1),
        "too many fields in one row": with_field(b"1,2,3"),
        "words among numbers": with_field(b"\x1b[31mword"),
        "many words among numbers": with_field(b"z" * 3_000_000),
        "infinite": with_field(b"-inf"),
        "too large": with_field(b"1e999"),
        "missing": with_field(b""),
        "an open quotation": with_field(b'"1'),
        "other encoding": TABLE.decode().encode("utf-16"),
        "no encoding": with_field(b"\xff\xfe\xff"),
        "one class": TABLE.replace(b"yes", b"no"),
        "missing labels": TABLE.replace(b"yes", b""),
        "a label of megabytes": TABLE[:-1].rpartition(b",")[0] + b"," + b"z" * 30_000_000 + b"\n",
        "compressed": gzip.compress(TABLE),
        "a pickle": bytes_kinds(TABLE)["a pickle"],
        "JSON": b'[{"x0": 1, "target": "yes"}]',
    }


def csv_tables(folder: Path) -> dict[str, Kind]:
    """Hostile tables with commas."""
    good = folder / "good.csv"
    good.write_bytes(TABLE)
    assert (CONVERT(good), COMMAND(good)) == ("it was read", "it was read")
    kinds = both(texts(), BOTH) | {f"{what} (fit)": kind for what, kind in place_kinds(COMMAND).items()}
    kinds |= {f"{what} (convert)": kind for what, kind in place_kinds(CONVERT).items()}
    kinds.pop("one class (convert)")  # a store may hold it
    return kinds


def tsv_tables(folder: Path) -> dict[str, Kind]:
    """Hostile tables with tabs."""
    chosen = ("empty", "header only", "zeros", "a column twice", "no target", "too large", "words among numbers", "missing")
    return both({what: texts()[what].replace(b",", b"\t") for what in chosen}, BOTH)


def packed_tables(pack: Callable[[bytes], bytes]) -> Callable[[Path], dict[str, Kind]]:
    """Return a function that makes hostile compressed tables."""

    def make(folder: Path) -> dict[str, Kind]:
        good = pack(TABLE)
        chosen = ("empty", "one byte", "half", "its beginning cut off", "zeros", "words", "bytes overwritten")
        contents = {what: bytes_kinds(good)[what] for what in chosen}
        contents |= {"not compressed": TABLE, "nothing in it": pack(b""), "compressed twice": pack(good)}
        lines = (b"1," * 8 + b"yes\n") * (PIECE // 20)  # all formats allow pieces one after another
        bombs = {
            "bomb of one line": pack(b"1" * PIECE) * PIECES,
            "bomb of many lines": pack(TABLE[: TABLE.index(b"\n") + 1]) + pack(lines) * PIECES,
        }
        return both(contents, BOTH) | both(bombs, {"fit": COMMAND})

    return make


def zstd(content: bytes) -> bytes:
    import pyarrow

    return bytes(pyarrow.compress(content, codec="zstd", asbytes=True))


def line(text: bytes) -> bytes:
    """Return the sparse table with another line in its middle."""
    lines = SPARSE.split(b"\n")
    lines[20] = text
    return b"\n".join(lines)


def sparse_tables(folder: Path) -> dict[str, Kind]:
    """Hostile tables of sparse rows (svmlight)."""
    contents = {
        "empty": b"",
        "zeros": bytes(1000),
        "bytes by chance": np.random.default_rng(4).bytes(3000),
        "words": b"no such thing\x1b[2J\n",
        "a large index": line(b"1 1:1 100000000:1"),
        "an index beyond int32": line(b"1 1:1 3000000000:1"),
        "an index beyond int64": line(b"1 1:1 99999999999999999999:1"),
        "a negative index": line(b"1 -5:1"),
        "falling indices": line(b"1 5:1 2:1"),
        "an index twice": line(b"1 5:1 5:1"),
        "no index": line(b"1 :1"),
        "no number": line(b"1 3:"),
        "no colon": line(b"1 3"),
        "no label": line(b"3:1"),
        "NaN": line(b"1 3:nan"),
        "infinite": line(b"1 3:inf"),
        "too large": line(b"1 3:1e999"),
        "codes": line(b"1 3:\x1b[2J"),
        "a label of nothing": line(b"nan 3:1"),
        "other ends of lines": SPARSE.replace(b"\n", b"\r"),
        "one long word": line(b"9" * 3_000_000),
        "a pickle": bytes_kinds(SPARSE)["a pickle"],
        "compressed": gzip.compress(SPARSE),
    }
    good = folder / "good.svm"
    good.write_bytes(SPARSE)
    readers = {"convert": converter(), "fit": commander()}
    assert [read(good) for read in readers.values()] == ["it was read"] * 2
    return both(contents, readers)


def npz_tables(folder: Path) -> dict[str, Kind]:
    """Hostile archives of dense matrices."""
    good = archive({"X": npy_of(X), "y": npy_of(Y)})
    members = members_of(good)
    contents = {
        **bytes_kinds(good),
        **archive_kinds(good, "X"),
        "no X": archive({"x": members["X"], "y": members["y"]}),
        "X of three dimensions": archive({**members, "X": npy_of(X.reshape(40, 4, 2))}),
        "X of text": archive({**members, "X": npy_of(X.astype(str))}),
        "X of nothing": archive({**members, "X": npy_of(X * np.nan)}),
        "X without rows": archive({"X": npy_of(X[:0]), "y": npy_of(Y[:0])}),
        "y of another length": archive({**members, "y": npy_of(Y[:-1])}),
        "y of pickles": archive({**members, "y": npy_kinds(Y)["pickled objects"]}),
        "y of dates": archive({**members, "y": npy_kinds(Y)["dates"]}),
        "y of letters that do not exist": archive({**members, "y": npy("<U1", (40,), b"\xff" * 160)}),
    }
    path = folder / "good.npz"
    path.write_bytes(good)
    readers = {"convert": converter(), "fit": commander("--target", "y")}
    assert [read(path) for read in readers.values()] == ["it was read"] * 2
    return both(contents, readers)


def sparse_archives(folder: Path) -> dict[str, Kind]:
    """Hostile archives of sparse matrices, as scipy writes them."""
    path = folder / "good.npz"
    S = sparse.csc_matrix(X)
    sparse.save_npz(path, S, compressed=False)
    good, read = path.read_bytes(), converter()
    assert read(path) == "it was read"
    members = members_of(good)

    def holding(**arrays: np.ndarray) -> bytes:
        return archive(members | {name: npy_of(np.asarray(array)) for name, array in arrays.items()})

    contents = {
        **archive_kinds(good, "data"),
        "format": holding(format=b"exe"),
        "format of codes": holding(format=np.array("\x1b[2J")),
        "format of pickles": archive({**members, "format": npy_kinds(Y)["pickled objects"]}),
        "shape of fractions": holding(shape=[40.0, 8.0]),
        "negative shape": holding(shape=[-40, 8]),
        "shape of many rows": holding(shape=[10**12, 8]),
        "shape that wraps around": holding(shape=[2**62, 2**62]),
        "shape of three": holding(shape=[40, 8, 1]),
        "starts that fall": holding(indptr=S.indptr[::-1].copy()),
        "starts beyond": holding(indptr=S.indptr + 1),
        "negative rows": holding(indices=S.indices - 50),
        "rows beyond": holding(indices=S.indices + 50),
        "fewer rows": holding(indices=S.indices[:-1]),
        "numbers of text": holding(data=S.data.astype(str)),
        "numbers of nothing": holding(data=S.data * np.nan),
        "no starts": archive({name: content for name, content in members.items() if name != "indptr"}),
        "diagonals far away": archive(
            {"format": npy_of(np.array(b"dia")), "shape": npy_of(np.array([40, 8])), "data": npy_of(np.ones((1, 3)))}
            | {"offsets": npy_of(np.array([2**40]))}
        ),
    }
    kinds = {what: Kind(written(content), read) for what, content in contents.items()}
    assert array_of(members["format"]).item() == b"csc"
    return kinds


def npy_tables(folder: Path) -> dict[str, Kind]:
    """Hostile .npy files, converted, and targets in such files."""
    read = converter()

    def with_target(path: Path) -> str:
        np.save(path.with_name("X.npy"), X)
        ez.convert(path.with_name("X.npy"), path.with_name("out.columns"), target=str(path))
        return "it was read"

    kinds = {what: Kind(written(content), read) for what, content in npy_kinds(X).items()}
    targets = {what: Kind(written(content), with_target) for what, content in npy_kinds(Y).items() if what != "one entry"}
    kinds |= {f"target: {what}": kind for what, kind in targets.items()}
    kinds |= place_kinds(read)
    return kinds | {"target of another length": Kind(written(npy_of(Y[:-1])), with_target)}


def parquet_tables(folder: Path) -> dict[str, Kind]:
    """Hostile files of Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = {f"x{j}": X[:, j] for j in range(8)} | {"target": np.array(["no", "yes"])[Y]}
    path = folder / "good.parquet"
    parquet.write_table(pa.table(columns), path)
    good = path.read_bytes()
    assert (CONVERT(path), COMMAND(path)) == ("it was read", "it was read")

    def table(content, **settings) -> bytes:
        out = io.BytesIO()
        parquet.write_table(content, out, **settings)
        return out.getvalue()

    damaged = bytearray(good)
    damaged[4:400] = bytes(396)
    footer = bytearray(good)
    footer[-8:-4] = b"\xff\xff\xff\x7f"
    words = pa.table(columns | {"x0": ["\x1b[2J"] * 40})
    double = pa.Table.from_arrays([pa.array(X[:, 0]), pa.array(X[:, 1]), pa.array(columns["target"])], ["a", "a", "target"])
    contents = {
        **bytes_kinds(good),
        "pages overwritten": bytes(damaged),
        "footer far too long": bytes(footer),
        "no rows": table(pa.table(columns).slice(0, 0)),
        "infinite": table(pa.table(columns | {"x0": X[:, 0] + np.inf})),
        "missing": table(pa.table(columns | {"x0": np.where(X[:, 0] > 0.0, X[:, 0], np.nan)})),
        "a column twice": table(double),
        "lists": table(pa.table(columns | {"x0": [[1.0]] * 40})),
        "no target": table(pa.table({name: values for name, values in columns.items() if name != "target"})),
        "target alone": table(pa.table({"target": columns["target"]})),
    }
    kinds = both(contents, BOTH) | both({"words in a column": table(words)}, {"convert": CONVERT})
    kinds.pop("bytes overwritten (convert)")  # pages have no checksums: other numbers
    kinds.pop("bytes overwritten (fit)")
    zeros = np.zeros(30_000_000)
    many = pa.table({"x0": zeros, "target": zeros})
    return kinds | both({"millions of zeros": table(many, compression="zstd")}, {"fit": COMMAND})


def plink_tables(folder: Path) -> dict[str, Kind]:
    """Hostile genotypes of PLINK: three files that belong together."""
    variants, samples = 6, 10
    bed = b"\x6c\x1b\x01" + np.random.default_rng(7).bytes(variants * 3)
    bim = "".join(f"1\trs{j}\t0\t{j + 1}\tA\tG\n" for j in range(variants)).encode()
    fam = "".join(f"f{i} i{i} 0 0 1 {1 + i % 2}\n" for i in range(samples)).encode()

    def made(**changes: bytes | None):
        def write(path: Path) -> None:
            for suffix, content in ({"bed": bed, "bim": bim, "fam": fam} | changes).items():
                if content is not None:
                    path.with_suffix(f".{suffix}").write_bytes(content)

        return write

    def read(path: Path) -> str:
        ez.convert(path, path.with_name("out.columns"), impute="mode")
        return "it was read"

    made()(folder / "good.bed")
    assert read(folder / "good.bed") == "it was read"
    kinds = {
        "empty": made(bed=b""),
        "half": made(bed=bed[:9]),
        "another beginning": made(bed=b"\x00" + bed[1:]),
        "by samples": made(bed=b"\x6c\x1b\x00" + bed[3:]),
        "another order": made(bed=b"\x6c\x1b\x07" + bed[3:]),
        "more than it should": made(bed=bed + bytes(100)),
        "compressed": made(bed=gzip.compress(bed)),
        "no variants": made(bim=b""),
        "variants missing": made(bim=None),
        "fewer variants": made(bim=bim.partition(b"\n")[2]),
        "more variants": made(bim=bim * 3),
        "variants of two columns": made(bim=b"1\trs\n" * variants),
        "variants of codes": made(bim=b"\x1b[2J\n" * variants),
        "variants by chance": made(bim=np.random.default_rng(8).bytes(200)),
        "no samples": made(fam=b""),
        "samples missing": made(fam=None),
        "fewer samples": made(fam=fam[: len(fam) // 2]),
        "samples of bytes": made(fam=b"\xff\xfe" * 50),
        "samples in one word": made(fam=b"a\n" * samples),
    }

    def linked(suffix: str, to: str):
        def write(path: Path) -> None:
            made(**{suffix: None})(path)
            path.with_suffix(f".{suffix}").symlink_to(to)

        return write

    kinds |= {f"{suffix} is a folder": linked(suffix, ".") for suffix in ("bim", "fam")}
    kinds |= {f"{suffix} never ends": linked(suffix, "/dev/zero") for suffix in ("bim", "fam")}
    return {what: Kind(write, read) for what, write in kinds.items()} | place_kinds(read)


def unknown_files(folder: Path) -> dict[str, Kind]:
    """Files of formats that are not read, under names that do not say so."""
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as file:
        file.writestr("data.csv", TABLE)
    contents = {"a zip file": zipped.getvalue(), "a table": TABLE, "nothing": b""}
    return both(contents, BOTH)


FORMATS = {
    "table.csv": csv_tables,
    "table.tsv": tsv_tables,
    "table.csv.gz": packed_tables(gzip.compress),
    "table.csv.bz2": packed_tables(bz2.compress),
    "table.csv.xz": packed_tables(lambda content: lzma.compress(content, preset=0)),
    "table.csv.zst": packed_tables(zstd),
    "table.svm": sparse_tables,
    "matrix.npz": npz_tables,
    "sparse matrix.npz": sparse_archives,
    "matrix.npy": npy_tables,
    "table.parquet": parquet_tables,
    "genotypes.bed": plink_tables,
    "table.exe": unknown_files,
}
