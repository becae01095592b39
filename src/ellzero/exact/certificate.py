"""Certificates: the problem, its solution, and the tree with its dual points, which a file can hold.

The format is described in docs/certificate.md; `ellzero.exact.verifier` reads it without any of the solver's code.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero.base.files import replacing
from ellzero.base.notebook import html_table
from ellzero.base.validation import as_path
from ellzero.exact.status import Status
from ellzero.exact.verifier import digest, fingerprint_matrix, fingerprint_vector
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd

MODELS = ["model_ends", "model_columns", "model_values", "model_intercept"]
# The arrays of diagonals, which are there if a dual point uses one.
DIAGONALS = ["diagonal_members", "diagonal_ends", "diagonal_values", "point_diagonal"]
# Those of families, which are there if a node has a bound of families or is enumerated.
FAMILIES = [f"form_{name}" for name in ("ends", "members", "family", "masses", "along", "ridges", "rest")]
FAMILIES += ["rest_ends", "enumerated"]

FINGERPRINTS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
"""Checksums of stores, which take long to read. Arrays in memory are not listed: their owner may change them between calls."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The claims of a certificate: the bounds it assumes, and the objective, lower bound and status it ends with."""

    lambda_0: float
    k: int | None
    bound: float | None  # assumed of the features that pay lambda_0
    free_bound: float | None  # assumed of free features
    objective: float
    lower_bound: float
    status: Status
    gap_asked: float
    swap_size: int | None = None  # if given, the lower bound holds for swaps of at most so many features, not for all models
    home: NDArray[np.int64] | None = None  # the counted features from which these swaps start, ascending
    budget: float | None = None  # of the sum of prices; k is None then
    prover: str | None = None  # another solver that `lower_bound` rests on
    # If given, the certificate lists all models up to this objective, and `lower_bound` is one below which none is missing.
    threshold: float | None = None
    within: float | None = None  # what was asked for: the threshold above the best objective, relative to it


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """A proof that anyone can check: :func:`ellzero.verify` needs it and the data, nothing else.

    Attributes
    ----------
    header : dict, settings and claims
    arrays : dict of arrays, the solution and the tree
    conditional : whether it rests on an assumed bound of the coefficients

    """

    problem: Problem
    claim: Claim
    model: Model
    tree: dict[str, NDArray[Any]]

    @property
    def conditional(self) -> bool:
        """Whether it rests on an assumed bound of the coefficients."""
        return self.claim.bound is not None or self.claim.free_bound is not None

    @cached_property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The solution, the tree, and the optional parts of the problem (weights, classes, bounds, spreads and so on)."""
        problem, penalty = self.problem, self.problem.penalty
        out: dict[str, NDArray[Any]] = {
            "support": self.model.support.astype(np.int64),
            "coef": self.model.values,
            "intercept": np.array(self.model.intercept),
            **self.tree,
        }
        if not (problem.w == problem.w[0]).all():
            out["weights"] = problem.w
        if problem.classes is not None:
            out["classes"] = storable(problem.classes)
        parts = {
            "lower": (penalty.lower, not np.isneginf(penalty.lower).all()),
            "upper": (penalty.upper, not np.isposinf(penalty.upper).all()),
            "spread": (problem.spread, problem.standardize),
            "price": (penalty.price, problem.penalty.priced),
            "group": (penalty.heads.astype(np.int64), problem.penalty.grouped),
            "unpenalized": (np.flatnonzero(penalty.unpenalized).astype(np.int64), penalty.unpenalized.any()),
        }
        out |= {name: value for name, (value, needed) in parts.items() if needed}
        if problem.rules:
            out |= problem.rules.arrays()
        if self.claim.home is not None:
            out["home"] = self.claim.home.astype(np.int64)
        return out

    @cached_property
    def header(self) -> dict[str, Any]:
        """Settings and claims, with checksums of the data and of everything else."""
        problem, claim = self.problem, self.claim
        storage, fingerprint = fingerprint_design(problem)
        n, p = problem.design.shape
        header: dict[str, Any] = {
            "format": "ellzero certificate",
            "version": 1,
            **problem.loss.settings,
            "lambda_0": claim.lambda_0,
            "lambda_1": problem.penalty.lambda_1,
            "lambda_2": problem.penalty.lambda_2,
            "k": claim.k,
            "budget": claim.budget,
            "swap_size": claim.swap_size,
            "outputs": problem.outputs,
            "fit_intercept": problem.fit_intercept,
            "standardize": problem.standardize,
            "bound": claim.bound,
            "free_bound": claim.free_bound,
            "n": n,
            "p": p,
            "storage": storage,
            "fingerprint_X": fingerprint,
            "fingerprint_y": fingerprint_vector(problem.y.ravel(order="F")),
            "objective": claim.objective,
            "lower_bound": claim.lower_bound,
            "status": claim.status,
            "gap_asked": claim.gap_asked,
            "prover": claim.prover,
            "threshold": claim.threshold,
            "within": claim.within,
        }
        return {**header, "digest": digest(header, self.arrays)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `path`, an npz file of NumPy, without pickled objects. An interrupted write leaves an older file as it was."""
        save_arrays(path, self.header, self.arrays)

    def _entries(self) -> dict[str, Any]:
        """Return what the certificate claims, by name."""
        claim, penalty = self.claim, self.problem.penalty
        n, p = self.problem.design.shape
        return {
            **self.problem.loss.settings,
            "rows": n,
            "features": p,
            "k": claim.k,
            "lambda_0": claim.lambda_0,
            "lambda_1": penalty.lambda_1,
            "lambda_2": penalty.lambda_2,
            "status": claim.status,
            "objective": claim.objective,
            "lower_bound": claim.lower_bound,
            "conditional": self.conditional,
            "swap_size": claim.swap_size,
            "prover": claim.prover,
            "nodes": len(self.tree["parent"]),
            "megabytes": self._megabytes(),
        }

    def _megabytes(self) -> float:
        """Return the size of the tree in memory."""
        return sum(array.nbytes for array in self.tree.values()) / 1e6

    def to_frame(self) -> pd.DataFrame:
        """Return what the certificate claims, in one row, as a pandas data frame."""
        return need("pandas", "frame").DataFrame([self._entries()])

    def _repr_html_(self) -> str:
        said = {name: f"{value:.8g}" if isinstance(value, float) else str(value) for name, value in self._entries().items()}
        rows = [[name, text] for name, text in said.items() if text != "None"]
        return html_table("certificate: verify() checks these claims", ["claim", "value"], rows)

    def __repr__(self) -> str:
        claim = self.claim
        on = ", conditional" if self.conditional else ""
        on += "" if claim.swap_size is None else f", over swaps of at most {claim.swap_size}"
        on += "" if claim.prover is None else f", by {claim.prover}"
        if claim.threshold is not None:
            on += f", {len(self.tree['listed_node'])} models up to {claim.threshold:.8g}"
        return (
            f"Certificate({self.problem.loss.name}, objective {claim.objective:.8g}, lower bound {claim.lower_bound:.8g}{on}, "
            f"{len(self.tree['parent'])} nodes, {self._megabytes():.1f} MB)"
        )


def listed_models(models: Sequence[tuple[int, Model]], redundant: Mapping[int, int], outputs: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of the models that a certificate lists, each with its node of the tree.

    The supports of other nodes gain nothing: `redundant` says to which model of the list.
    """
    several = () if outputs == 1 else (outputs,)
    return {
        "listed_node": np.array([node for node, _ in models], dtype=np.int64),
        "listed_ends": np.cumsum([len(model.support) for _, model in models], dtype=np.int64),
        "listed_columns": np.concatenate([np.zeros(0, np.int64), *(model.support for _, model in models)]).astype(np.int64),
        "listed_coef": np.concatenate([np.zeros((0, *several)), *(model.values for _, model in models)]),
        "listed_intercept": np.array([model.intercept for _, model in models], dtype=np.float64).reshape(-1, *several),
        "redundant_node": np.array(list(redundant), dtype=np.int64),
        "redundant_to": np.array(list(redundant.values()), dtype=np.int64),
    }


def storable(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels as a file can hold them: numbers, booleans or texts."""
    return labels if labels.dtype.kind in "iufbU" else labels.astype(str)


def tree_arrays(tree: _core.Tree, problem: Problem) -> dict[str, NDArray[Any]]:
    """Return the arrays of a tree that go into a certificate, on the scale of Z.

    Of several outputs, the core's columns are atoms; those of decisions are columns of X in a certificate. Units are powers of
    two, which round nothing.
    """
    names, outputs, units = ["parent", "branch", "side", "block_members", "block_ends", "row"], problem.outputs, problem.units
    out = {name: getattr(tree, name) for name in names}
    out["block_members"] = out["block_members"] // outputs
    if problem.loss.has_kink:
        out["alpha"] = (tree.precise if len(tree.precise) else tree.shares).reshape(-1, problem.y.size)
    else:
        out |= {name: getattr(tree, name) for name in MODELS}
        several = () if outputs == 1 else (outputs,)
        out["model_values"] = out["model_values"] * units.coefficient
        out["model_intercept"] = out["model_intercept"].reshape(-1, *several) * units.response
        if problem.fit_intercept:
            out["model_intercept"] = out["model_intercept"] + (units.centre if several else units.centre[0])
    if (tree.model_scale != 1.0).any():
        out["model_scale"] = tree.model_scale
    if (tree.point_diagonal >= 0).any():
        out |= {name: getattr(tree, name) for name in DIAGONALS}
        out["diagonal_values"] = out["diagonal_values"] * units.column**2
    if len(tree.gram_node) or len(tree.enumerated):
        out |= {name: getattr(tree, name) for name in FAMILIES}
        out |= {f"form_{name}": out[f"form_{name}"] * units.column**2 for name in ("masses", "ridges", "rest")}
        add_points_of_families(out, tree, units.coefficient)
    return out


def add_points_of_families(out: dict[str, NDArray[Any]], tree: _core.Tree, unit: float) -> None:
    """Add the models of bounds with families to those of dual points."""
    count, more = len(out["model_ends"]), len(tree.gram_node)
    out["row"] = out["row"].copy()
    out["row"][tree.gram_node] = count + np.arange(more)
    out["point_form"] = np.concatenate((np.full(count, -1), tree.gram_form))
    parts: dict[str, NDArray[Any]] = {
        "model_ends": tree.gram_ends + len(out["model_columns"]),
        "model_columns": tree.gram_columns,
        "model_values": tree.gram_values * unit,
        "model_intercept": np.zeros(more),
        "model_scale": np.ones(more),
        "point_diagonal": np.full(more, -1),
    }
    out |= {name: np.concatenate((out[name], part)) for name, part in parts.items() if name in out}


def no_points(problem: Problem) -> dict[str, NDArray[Any]]:
    """Return the arrays of the dual points of a tree that has none."""
    return {name: array for name, array in tree_arrays(_core.Tree(), problem).items() if name in (*MODELS, "alpha")}


def fingerprint_design(problem: Problem) -> tuple[str, str]:
    """Return "dense" or "sparse", the storage of X, and its checksum; a store is read only once, whatever it is used for."""
    X = problem.design.stored()
    if sparse.issparse(X) or isinstance(X, np.ndarray):
        storage = "sparse" if sparse.issparse(X) else "dense"
        return storage, fingerprint_matrix(X, storage)
    if X not in FINGERPRINTS:
        FINGERPRINTS[X] = fingerprint_matrix(X, X.storage)
    return X.storage, FINGERPRINTS[X]


def save_arrays(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a header and arrays as an npz file; the file appears as a whole or not at all."""
    text = np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8)
    with replacing(as_path("path", path)) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, array in {"header": text, **arrays}.items():
            # The integers of a tree shrink to a tenth. Digits of dual points hardly shrink at all, and would take long.
            member = zipfile.ZipInfo(f"{name}.npy")
            member.compress_type = zipfile.ZIP_DEFLATED if array.dtype.kind in "iu" else zipfile.ZIP_STORED
            with archive.open(member, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
