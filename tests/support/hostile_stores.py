"""Hostile column stores, matrices of NumPy that are used in place, and arrays of HDF5 and Zarr."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
from scipy import sparse

import ellzero as ez
from support.hostile_bytes import Kind, json_kinds, npy, npy_kinds, npy_of, place_kinds
from support.hostile_proofs import written

RNG = np.random.default_rng(6)
X = RNG.standard_normal((40, 8)) * (RNG.random((40, 8)) < 0.7)
Y = (X[:, 0] + 0.3 * RNG.standard_normal(40) > 0.0).astype(int)
NAMES = [f"x{j}" for j in range(8)]


def fitted(store) -> str:
    ez.fit_path(store, Y, n_lambda=3, lambda_2=0.01)
    return "it was read"


def used(path: Path) -> str:
    """Open a store, look at what it holds, and fit on it."""
    store = ez.open_columns(path)
    found = store.y, store.names
    assert found is not None
    return fitted(store)


def changed(good: Path, change):
    """Return a function that copies a store and changes the copy."""

    def write(path: Path) -> None:
        shutil.copytree(good, path)
        change(path)

    return write


def about(**changes):
    def change(path: Path) -> None:
        content = json.loads((path / "about.json").read_text()) | changes
        (path / "about.json").write_text(json.dumps({name: value for name, value in content.items() if value != "gone"}))

    return change


def unchecked(name: str, content: bytes):
    """Replace a file by another, to which the description is made to fit."""

    def change(path: Path) -> None:
        (path / name).unlink(missing_ok=True)
        (path / name).write_bytes(content)
        known = json.loads((path / "about.json").read_text())
        about(files=known["files"] | {name: len(content)}, checks={}, crc32=known["crc32"])(path)

    return change


def linked(name: str, to: str):
    def change(path: Path) -> None:
        (path / name).unlink()
        (path / name).symlink_to(to)

    return change


def instead(name: str):
    """A folder in place of a file."""

    def change(path: Path) -> None:
        (path / name).unlink()
        (path / name).mkdir()

    return change


ABOUT = {
    "no rows said": about(n="gone"),
    "negative columns": about(p=-8),
    "columns of truth": about(p=True),
    "more rows than numbers": about(n=10**15),
    "more columns than numbers": about(p=2**62),
    "no blocks": about(block_columns=0),
    "version of codes": about(version="\x1b[2J"),
    "storage": about(storage="pickle"),
    "target of codes": about(target=["\x1b"]),
    "checksums of text": about(crc32=["a"]),
    "no checksums": about(crc32=[]),
    "more checksums": about(crc32=[1] * 1000),
    "sizes below zero": about(files={"X.npy": -1}),
    "sizes in a list": about(files=["X.npy"]),
    "checks in a list": about(checks=[1]),
    "description a folder": instead("about.json"),
    "description an endless device": linked("about.json", "/dev/zero"),
}


def dense_stores(folder: Path) -> dict[str, Kind]:
    """Hostile dense column stores."""
    good = folder / "good.columns"
    with ez.ColumnWriter(good, *X.shape, names=NAMES, y=Y, target="label") as writer:
        writer.append(X)
    assert used(good) == "it was read"
    numbers = np.asfortranarray(X)
    changes = {
        **ABOUT,
        **{
            f"description: {what}": lambda path, content=content: (path / "about.json").write_bytes(content)
            for what, content in json_kinds((good / "about.json").read_bytes()).items()
        },
        **{f"X: {what}": unchecked("X.npy", content) for what, content in npy_kinds(numbers).items()},
        "X missing": lambda path: (path / "X.npy").unlink(),
        "X a folder": instead("X.npy"),
        "X an endless device": linked("X.npy", "/dev/zero"),
        "X a link to itself": linked("X.npy", "X.npy"),
        "X of other numbers": unchecked("X.npy", npy("<f8", X.shape, bytes(X.nbytes), fortran=True)),
        "X by rows": unchecked("X.npy", npy("<f8", X.shape, numbers.tobytes())),
        "X with NaN": unchecked("X.npy", npy("<f8", X.shape, np.full(X.size, np.nan).tobytes(), fortran=True)),
        "X of the other byte order": unchecked("X.npy", npy(">f8", X.shape, numbers.tobytes(), fortran=True)),
        "y of another length": unchecked("y.npy", npy_of(np.arange(41))),
        "y of pickles": unchecked("y.npy", npy_kinds(np.arange(40))["pickled objects"]),
        "y cut off": unchecked("y.npy", npy_of(Y)[:-4]),
        "y of letters that do not exist": unchecked("y.npy", npy("<U1", (40,), b"\xff" * 160)),
        "names of another number": unchecked("names.json", json.dumps(NAMES[:-1]).encode()),
        "names twice": unchecked("names.json", json.dumps(["a"] * 8).encode()),
        "names that are numbers": unchecked("names.json", json.dumps(list(range(8))).encode()),
        "names nested": unchecked("names.json", b"[" * 90_000 + b"]" * 90_000),
        "names no JSON": unchecked("names.json", b"\xff"),
    }
    return {what: Kind(changed(good, change), used) for what, change in changes.items()}


def sparse_stores(folder: Path) -> dict[str, Kind]:
    """Hostile sparse column stores."""
    good, S = folder / "good.columns", sparse.csc_matrix(X)
    with ez.SparseColumnWriter(good, *X.shape, y=Y) as writer:
        writer.append(S)
    assert used(good) == "it was read"
    starts, rows = np.load(good / "indptr.npy"), np.load(good / "indices.npy")
    changes = {
        "starts that fall": unchecked("indptr.npy", npy_of(starts[::-1].copy())),
        "starts beyond": unchecked("indptr.npy", npy_of(starts + 10**12)),
        "negative starts": unchecked("indptr.npy", npy_of(starts - 3)),
        "starts of fractions": unchecked("indptr.npy", npy_of(starts.astype(float))),
        "fewer starts": unchecked("indptr.npy", npy_of(starts[:-1])),
        "starts cut off": unchecked("indptr.npy", npy_of(starts)[:-3]),
        "rows beyond": unchecked("indices.npy", npy_of(rows + np.asarray(10**6, rows.dtype))),
        "negative rows": unchecked("indices.npy", npy_of(rows - np.asarray(99, rows.dtype))),
        "fewer rows": unchecked("indices.npy", npy_of(rows[:-1])),
        "rows of text": unchecked("indices.npy", npy_of(rows.astype(str))),
        "numbers of pickles": unchecked("data.npy", npy_kinds(S.data)["pickled objects"]),
        "fewer numbers": unchecked("data.npy", npy_of(S.data[:-1])),
        "numbers of NaN": unchecked("data.npy", npy_of(S.data * np.nan)),
        "no numbers": lambda path: (path / "data.npy").unlink(),
        "no rows": lambda path: (path / "indices.npy").unlink(),
        "no starts": lambda path: (path / "indptr.npy").unlink(),
        "said to be dense": about(storage="dense"),
        "columns beyond all memory": about(p=10**11),
    }
    return {what: Kind(changed(good, change), used) for what, change in changes.items()}


def matrices(folder: Path) -> dict[str, Kind]:
    """Hostile .npy files that are used in place."""
    good = np.asfortranarray(X)
    contents = npy_kinds(good) | {
        "three dimensions": npy("<f8", (40, 4, 2), good.tobytes()),
        "no dimensions": npy("<f8", (), bytes(8)),
        "one dimension": npy("<f8", (320,), good.tobytes()),
        "no rows": npy("<f8", (0, 8), fortran=True),
        "text": npy("<U2", (40, 8), good.tobytes(), fortran=True),
    }
    return {what: Kind(written(content), used) for what, content in contents.items()} | place_kinds(used)


def hdf5_arrays(folder: Path) -> dict[str, Kind]:
    """Datasets of HDF5 whose file is hostile."""
    import h5py

    def read(path: Path) -> str:
        with h5py.File(path) as file:
            return fitted(file["X"])

    def made(**settings):
        def write(path: Path) -> None:
            with h5py.File(path, "w") as file:
                file.create_dataset("X", **settings)

        return write

    def damaged_chunk(path: Path) -> None:
        made(data=X, chunks=(40, 4), compression="gzip", fletcher32=True)(path)
        with h5py.File(path) as file:
            places = [file["X"].id.get_chunk_info(k) for k in range(2)]
        content = bytearray(path.read_bytes())
        for place in places:
            content[place.byte_offset + 4 : place.byte_offset + place.size] = bytes(place.size - 4)
        path.write_bytes(content)

    writers = {
        "damaged chunks": damaged_chunk,
        "text": made(data=np.full((40, 8), b"a", dtype="S1")),
        "records": made(data=np.zeros((40, 8), dtype=[("a", "<f8"), ("b", "<f8")])),
        "complex": made(data=X.astype(complex)),
        "three dimensions": made(data=X.reshape(40, 4, 2)),
        "no dimensions": made(data=1.0),
        "rows without numbers": made(shape=(10**12, 8), dtype="f8", chunks=(40, 8)),
        "columns without numbers": made(shape=(40, 10**12), dtype="f8", chunks=(40, 8)),
        "chunks that claim memory": made(shape=(40, 10**8), dtype="f8", chunks=(40, 10**7)),
        "NaN": made(data=X * np.nan),
        "no rows": made(shape=(0, 8), dtype="f8"),
    }
    return {what: Kind(write, read) for what, write in writers.items()}


def zarr_arrays(folder: Path) -> dict[str, Kind]:
    """Arrays of Zarr whose folder is hostile."""
    import zarr

    def read(path: Path) -> str:
        return fitted(zarr.open_array(str(path), mode="r"))

    def made(data: np.ndarray):
        def write(path: Path) -> None:
            array = zarr.open_array(str(path), mode="w", shape=data.shape, chunks=(40, 4, 2)[: data.ndim], dtype=data.dtype)
            array[...] = data

        return write

    def chunks_of(path: Path) -> list[Path]:
        return [file for file in path.rglob("*") if file.is_file() and not file.name.startswith((".z", "zarr"))]

    def damaged(content: bytes | None):
        def write(path: Path) -> None:
            made(X)(path)
            for chunk in chunks_of(path):
                chunk.write_bytes(chunk.read_bytes()[:10] if content is None else content)

        return write

    def empty(shape: tuple[int, int], chunks: tuple[int, int]):
        return lambda path: zarr.open_array(str(path), mode="w", shape=shape, chunks=chunks, dtype="f8")

    writers = {
        "chunks cut off": damaged(None),
        "chunks of nothing": damaged(b""),
        "chunks by chance": damaged(np.random.default_rng(2).bytes(300)),
        "complex": made(X.astype(complex)),
        "three dimensions": made(X.reshape(40, 4, 2)),
        "NaN": made(X * np.nan),
        "rows without numbers": empty((10**12, 8), (40, 8)),
        "columns without numbers": empty((40, 10**12), (40, 8)),
        "chunks that claim memory": empty((40, 10**8), (40, 10**7)),
    }
    return {what: Kind(write, read) for what, write in writers.items()}


FORMATS = {
    "dense store.columns": dense_stores,
    "sparse store.columns": sparse_stores,
    "matrix.npy": matrices,
    "array.h5": hdf5_arrays,
    "array.zarr": zarr_arrays,
}
