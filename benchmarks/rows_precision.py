"""Squared error on the few rows that stand for all, against all rows, where X costs digits."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from benchmarks.sections import Section
from ellzero.problem import rows
from ellzero.problem.making import make_problem
from experiments.measurement.markdown import table

__all__ = ["precision"]

Array = NDArray[np.float64]
N, P = 20_000, 12
SIZES = range(1, 9)


def cases() -> Iterator[tuple[str, Array, Array]]:
    """Names, X and y."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    y = X[:, :4] @ np.ones(4) + rng.standard_normal(N)
    U, V = np.linalg.qr(X)[0], np.linalg.qr(rng.standard_normal((P, P)))[0]
    for exponent in (3, 6, 9, 12):
        bad = np.sqrt(N) * U * np.geomspace(1.0, 10.0**-exponent, P) @ V.T
        yield f"condition 1e{exponent}", bad, bad @ rng.standard_normal(P) + 0.1 * rng.standard_normal(N)
    for exponent in (3, 6):
        near = np.hstack([X, X + 10.0**-exponent * rng.standard_normal(X.shape)])
        yield f"pairs of columns 1e-{exponent} apart", near, (near[:, 0] - near[:, P]) * 10.0**exponent + y
    yield "means of 1e8 spreads", X + 1e8, y
    yield "no noise", X, X[:, :4] @ np.ones(4) + 1e-7 * y


def precision() -> Section:
    """Objectives on the few rows and on all, of models with the same features and of all sizes."""
    out, lines = Section("Precision of squared error"), []
    for name, X, y in cases():
        few = ez.fit_sizes(X, y, SIZES, loss="squared_error")
        way = "Gram matrix" if rows.by_gram(rows.WeightedTable(make_problem(X, y, loss="squared_error"), 1)) else "QR"
        with mock.patch.object(rows, "LEAST_ROWS", 10**12):
            whole = ez.fit_sizes(X, y, SIZES, loss="squared_error")
            same = [ez.fit_path(X[:, model.support], y, loss="squared_error", lambda_0=0.0, tol=1e-12)[0] for model in few]
        worst = max(abs(mine.cost / other.cost - 1.0) for mine, other in zip(few, same, strict=True))
        apart = max(few.objective / whole.objective - 1.0, key=abs)
        out.raw.append({"case": name, "way": way, "same features": worst, "sizes": apart})
        lines.append([name, way, f"{worst:.1e}", f"{apart:+.1e}"])
    told = (
        f"{N:,} rows, sizes {SIZES[0]} to {SIZES[-1]}: the largest relative difference of objectives, recomputed from X, on "
        "the few rows and on all. First for the features found on the few rows, then size by size, where searches that "
        "round differently may end in other local minima."
    )
    out.text = f"{told}\n\n{table(['X', 'made by', 'same features', 'same size'], lines)}"
    return out
