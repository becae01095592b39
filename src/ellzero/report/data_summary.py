"""A data set in a few numbers; sparse data stays sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.design import Design, is_stored
from ellzero.problem.model import feature_name
from ellzero.report.words import named

__all__ = ["describe_classes", "describe_features", "describe_response"]

Array = NDArray[np.float64]

NAMED_CONSTANTS = 10
"""At most so many constant columns are named, the others are only counted."""

HISTOGRAM_BINS = 20
BLOCK_BYTES = 1 << 26
"""An X that is not in memory is read in blocks of at most this size (as float64)."""

ROUNDING = 1e-26
"""A column whose variance is this share of its mean square, or less, is constant but for rounding."""


def describe_features(design: Design, names: list[str] | None, weight: Array) -> tuple[dict[str, Any], Array]:
    """Return size, density and constant columns of X, and the standard deviation of each column."""
    mean, variance = design.core.moments(weight / weight.sum())
    constant = np.flatnonzero(variance <= ROUNDING * (variance + mean**2))
    n, p = design.shape
    thin = design.stored().storage == "sparse" if is_stored(design) else sparse.issparse(design.stored())
    summary = {
        "rows": n,
        "features": p,
        "named": names is not None,
        "sparse": bool(thin),
        "density": count_filled(design) / (n * p),
        "constant": len(constant),
        "constant_names": [named(feature_name(names, int(j))) for j in constant[:NAMED_CONSTANTS]],
    }
    return summary, np.where(variance > 0.0, np.sqrt(np.maximum(variance, 0.0)), 0.0)


def count_filled(design: Design) -> int:
    """Count the entries that are not zero (of a sparse matrix: are stored); an X that is not in memory is read in blocks."""
    X, (n, p) = design.stored(), design.shape
    step = max(1, BLOCK_BYTES // (8 * n)) if is_stored(design) else p
    blocks = (X[:, start : min(start + step, p)] for start in range(0, p, step))
    return sum(int(block.nnz if sparse.issparse(block) else np.count_nonzero(block)) for block in blocks)


def describe_classes(codes: NDArray[np.int64], labels: list[str], weight: Array) -> list[dict[str, Any]]:
    """Return the number of rows of each class, and their share of the weight."""
    mass = np.bincount(codes, weight, len(labels))
    rows = np.bincount(codes, minlength=len(labels))
    return [
        {"label": label, "rows": int(count), "share": float(part)}
        for label, count, part in zip(labels, rows, mass / mass.sum(), strict=True)
    ]


def describe_response(y: Array) -> dict[str, Any]:
    """Return range, middle and a histogram of a numeric response."""
    counts, edges = np.histogram(y, bins=HISTOGRAM_BINS)
    return {
        "mean": float(y.mean()),
        "sd": float(y.std()),
        "min": float(y.min()),
        "median": float(np.median(y)),
        "max": float(y.max()),
        "histogram": {"counts": counts.tolist(), "edges": [float(f"{edge:.6g}") for edge in edges]},
    }
