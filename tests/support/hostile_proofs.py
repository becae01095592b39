"""Hostile certificates, checkpoints and models."""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path

import numpy as np

import ellzero as ez
from ellzero.exact.verifier import digest
from fuzz.certificates.tampering import CATALOGUE, Tampering
from support.certificates import BASES, base
from support.certificates import X as certificate_X
from support.certificates import Y as certificate_Y
from support.hostile_bytes import (
    BOMB,
    Kind,
    archive,
    archive_kinds,
    bytes_kinds,
    json_kinds,
    members_of,
    npy_of,
    place_kinds,
    with_bomb,
)

RNG = np.random.default_rng(5)
X = RNG.standard_normal((40, 24)) + 1.5 * RNG.standard_normal((40, 1))
Y = (X[:, :6].sum(1) + RNG.standard_normal(40) > X.sum(1) / 4.0).astype(int)
SEARCH = {"k": 6, "lambda_2": 1e-3, "gap": 1e-7}
# Best subsets without a penalty: diagonals alone hold the coefficients.
CURVED_Y = X[:, :6].sum(1) + 3.0 * RNG.standard_normal(40)
CURVED_SEARCH = {"loss": "squared_error", "k": 6, "gap": 1e-7}


def verified(path: Path) -> str:
    """Verify a certificate: its report must not be valid, and says why."""
    report = ez.verify(path, certificate_X, certificate_Y)
    assert not report.valid
    assert "\x1b" not in str(report)
    return report.reasons[0]


def gone_on(path: Path) -> str:
    """Let a search go on from a checkpoint."""
    solution = ez.solve(X, Y, node_limit=40, checkpoint=path, **SEARCH)
    return f"it was read: {solution.status}"


def gone_on_curved(path: Path) -> str:
    """Let a search of best subsets go on from a checkpoint."""
    solution = ez.solve(X, CURVED_Y, node_limit=40, checkpoint=path, **CURVED_SEARCH)
    return f"it was read: {solution.status}"


def loaded(path: Path) -> str:
    """Load a model and predict with it."""
    ez.load(path).predict(X[:, :6])
    return "it was read"


def written(content: bytes):
    return lambda path: path.write_bytes(content)


def with_header(members: dict[str, bytes], text: bytes) -> bytes:
    return archive({**members, "header": npy_of(np.frombuffer(text, dtype=np.uint8))})


def array_of(content: bytes) -> np.ndarray:
    return np.load(io.BytesIO(content)).copy()


def written_sealed(path: Path, tampering: Tampering) -> None:
    """Write a certificate that was tampered with, with the digest that belongs to it."""
    _, header, arrays = base(tampering.base)
    tampering.change(header, arrays)
    header["digest"] = digest(header, arrays)
    members = {name: npy_of(array) for name, array in arrays.items()}
    path.write_bytes(with_header(members, json.dumps(header).encode()))


def certificates(folder: Path) -> dict[str, Kind]:
    """Hostile certificates; `sealed` are those of the catalogue of tampering."""
    path = folder / "good.npz"
    base("weighted box")[0].certificate.save(path)
    assert ez.verify(path, certificate_X, certificate_Y).valid
    good = path.read_bytes()
    members = members_of(good)
    text = array_of(members["header"]).tobytes()
    contents = {
        **bytes_kinds(good),
        **archive_kinds(good, "model_values"),
        **{f"header: {what}": with_header(members, content) for what, content in json_kinds(text).items()},
        "bomb beside the rest": with_bomb(members, "more", (BOMB // 8,)),
        "no header": archive({name: content for name, content in members.items() if name != "header"}),
        "no points": archive({name: content for name, content in members.items() if name != "model_values"}),
    }
    sealed = [tampering for tampering in CATALOGUE if tampering.base in BASES]
    return {
        **{what: Kind(written(content), verified) for what, content in contents.items()},
        **{f"sealed: {each.name}": Kind(partial(written_sealed, tampering=each), verified) for each in sealed},
        **place_kinds(verified),
    }


def checkpoints(folder: Path) -> dict[str, Kind]:
    """Hostile checkpoints; `test_exact_checkpoints.py` has those that lie."""
    path = folder / "good.npz"
    assert ez.solve(X, Y, node_limit=20, checkpoint=path, **SEARCH).status == "node_limit"
    good = path.read_bytes()
    assert "it was read" in gone_on(path)
    members = members_of(good)
    text = array_of(members["header"]).tobytes()

    def moved(name: str, make) -> bytes:
        return archive({**members, name: npy_of(make(array_of(members[name])))})

    def filled(name: str, value: float) -> bytes:
        return moved(name, lambda old: np.full_like(old, value))

    contents = {
        **bytes_kinds(good),
        **archive_kinds(good, "state.beta"),
        **{f"header: {what}": with_header(members, content) for what, content in json_kinds(text).items()},
        **{
            f"without {name}": archive({k: v for k, v in members.items() if k != name})
            for name in ("node.id", "tree.model_ends")
        },
        "starts that fall": moved("state.near.starts", lambda old: old[::-1]),
        "starts far beyond": moved("state.columns.starts", lambda old: old + 2**40),
        "negative starts": moved("incumbent.support.starts", lambda old: old - 5),
        "columns out of range": moved("state.columns", lambda old: old + 2**24),
        "negative columns": filled("state.columns", -5),
        "features twice": filled("incumbent.support", 2),
        "coefficients of nothing": filled("incumbent.beta", np.nan),
        "points of nothing": filled("tree.model_intercept", np.inf),
        "rows of points": filled("tree.row", 10**7),
        "parents out of range": moved("tree.parent", lambda old: old + 2**33),
        "nodes twice": filled("node.id", 1),
        "states out of range": filled("node.state", 2**31),
        "number of nodes": filled("search.nodes_done", 2**62),
        "picks below zero": filled("search.picks", -1),
    }
    return {
        **{what: Kind(written(content), gone_on) for what, content in contents.items()},
        **{what: Kind(written(content), gone_on_curved) for what, content in curved_checkpoints(folder).items()},
        **place_kinds(gone_on),
    }


def curved_checkpoints(folder: Path) -> dict[str, bytes]:
    """Hostile checkpoints with diagonals."""
    path = folder / "curved.npz"
    assert ez.solve(X, CURVED_Y, node_limit=20, checkpoint=path, **CURVED_SEARCH).status == "node_limit"
    members = members_of(path.read_bytes())
    assert "it was read" in gone_on_curved(path)
    curved = [name for name in members if name.startswith(("tree.diagonal", "tree.model", "tree.point"))]
    assert len(curved) >= 7

    def moved(name: str, make) -> bytes:
        return archive({**members, name: npy_of(make(array_of(members[name])))})

    def with_first(name: str, value: float) -> bytes:
        def make(old):
            old[0] = value
            return old

        return moved(name, make)

    return {
        **{f"curved, without {name}": archive({k: v for k, v in members.items() if k != name}) for name in curved},
        "diagonals of points out of range": with_first("tree.point_diagonal", 10**7),
        "diagonals of points far below zero": with_first("tree.point_diagonal", -(2**40)),
        "diagonals of fewer points": moved("tree.point_diagonal", lambda old: old[:-1]),
        "models that fall": moved("tree.model_ends", lambda old: old[::-1].copy()),
        "models that end below zero": with_first("tree.model_ends", -5),
        "models that never end": moved("tree.model_ends", lambda old: old + 2**40),
        "models of columns out of range": moved("tree.model_columns", lambda old: old + 2**24),
        "models of one column": moved("tree.model_columns", np.zeros_like),
        "models of nothing": moved("tree.model_values", lambda old: old * np.nan),
        "models of other sizes": moved("tree.model_values", lambda old: old[:-1]),
        "diagonals that fall": moved("tree.diagonal_ends", lambda old: np.append(old + 5, old[-1])),
        "diagonals that never end": moved("tree.diagonal_ends", lambda old: old + 2**40),
        "diagonals of no column": moved("tree.diagonal_ends", lambda old: np.append(0, old)),
        "diagonals of columns out of range": moved("tree.diagonal_members", lambda old: old + 2**24),
        "diagonals of one column": moved("tree.diagonal_members", np.zeros_like),
        "diagonals below zero": moved("tree.diagonal_values", lambda old: -old),
        "diagonals without an end": moved("tree.diagonal_values", lambda old: old * np.inf),
        "diagonals too large": moved("tree.diagonal_values", lambda old: 10.0 * old),
    }


def output(**changes):
    def change(content):
        content["outputs"][0] |= changes

    return change


def top(**changes):
    return lambda content: content.update(changes)


MODELS = {
    "estimator": top(estimator="os.system"),
    "estimator of codes": top(estimator="\x1b[2J"),
    "version": top(version=True),
    "version of codes": top(version="\x1b[2J"),
    "loss": top(loss=["logistic"]),
    "negative number of features": top(n_features=-6),
    "number of features beyond all indices": top(n_features=2**70),
    "names of another number": top(feature_names=["a"] * 7),
    "names that are none": top(feature_names=[1] * 6),
    "no outputs": top(outputs=[]),
    "many outputs": top(outputs=[{"features": [], "coefficients": [], "intercept": 0.0}] * 100),
    "outputs of text": top(outputs=["a"]),
    "features out of range": output(features=[10**12, 1]),
    "negative features": output(features=[-1, 1]),
    "features twice": output(features=[1, 1]),
    "fewer coefficients": output(coefficients=[1.0]),
    "coefficients of text": output(coefficients=["1", "2"]),
    "intercept of truth": output(intercept=True),
    "intercept beyond all numbers": output(intercept=10**309),
    "classes of objects": top(classes={"type": "object", "values": [1, 2]}),
    "same classes": top(classes={"type": "integer", "values": [1, 1]}),
    "classes too large": top(classes={"type": "integer", "values": [1, 2**64]}),
    "one class far too long": top(
        outputs=[{"features": [], "coefficients": [], "intercept": 0.0}] * 2000,
        classes={"type": "string", "values": [*map(str, range(1999)), "x" * 500_000]},
    ),
    "penalty below zero": top(penalties={"lambda_0": -1.0, "lambda_1": 0.0, "lambda_2": 0.0, "k": None}),
    "penalties of a list": top(penalties=[1, 2]),
    "calibration": top(calibration=[[1.0, 2.0]] * 9),
    "preparation": top(preparation=[1]),
}


def models(folder: Path) -> dict[str, Kind]:
    """Hostile models."""
    path = folder / "good.json"
    ez.L0Classifier(k=2).fit(X[:, :6], Y).save(path)
    good = path.read_bytes()
    assert loaded(path) == "it was read"

    def changed(change) -> bytes:
        content = json.loads(good)
        change(content)
        return json.dumps(content).encode()

    contents = {
        **{what: bytes_kinds(good)[what] for what in ("zeros", "bytes by chance", "a pickle", "compressed")},
        **json_kinds(good),
        **{what: changed(change) for what, change in MODELS.items()},
        **{f"without {name}": changed(lambda content, name=name: content.pop(name)) for name in json.loads(good)},
    }
    contents.pop("without preparation", None)  # models made in Python have none
    return {what: Kind(written(content), loaded) for what, content in contents.items()} | place_kinds(loaded)


FORMATS = {"certificate.npz": certificates, "checkpoint.npz": checkpoints, "model.json": models}
