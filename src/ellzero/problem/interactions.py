"""Products of columns, with their names and the rules that say when they may be in a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted
from ellzero.base.validation import as_choice
from ellzero.design import as_design
from ellzero.design.base import all_names, feature_names
from ellzero.problem.rules import Rule, requires


@dataclass(frozen=True, eq=False)
class Interactions:
    """Columns with their products, as :func:`interactions` makes them.

    Attributes
    ----------
    X : the columns, and behind them their products; a data frame, a sparse matrix or an array, like the X it was made of
    names : of all columns; products are called "a:b"
    pairs : the positions of the two columns of each product
    rules : what :func:`solve`, :func:`fit_path` and the others take as ``rules``

    """

    X: Any
    names: list[str]
    pairs: list[tuple[int, int]]
    rules: list[Rule]


def interactions(X: object, pairs: Iterable[tuple[Any, Any]] | None = None, *, heredity: str | None = "strong") -> Interactions:
    """Multiply columns, and make the rules by which a product is in a model only with its columns.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, p)
        Products of columns that are far from zero resemble the columns themselves: centre these first.
    pairs : pairs of names or positions, optional
        The columns to multiply; None takes every two of them.
    heredity : {"strong", "weak", None}
        "strong": a product needs both of its columns. "weak": it needs one of them. None: it needs none.

    Returns
    -------
    Interactions

    Examples
    --------
    >>> import numpy as np
    >>> import ellzero as ez
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = X[:, 0] + X[:, 1] + 2.0 * X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=200)
    >>> made = ez.interactions(X)
    >>> model = ez.fit_sizes(made.X, y, 3, loss="squared_error", rules=made.rules)[3]
    >>> [made.names[j] for j in model.support]
    ['x0', 'x1', 'x0:x1']

    """
    if heredity is not None:
        as_choice("heredity", heredity, ("strong", "weak"))
    design = as_design(X)
    p = design.shape[1]
    names = all_names(design.names, p)
    chosen = list(combinations(range(p), 2)) if pairs is None else [as_pair(pair, names) for pair in pairs]
    first, second = (np.array(side, dtype=np.intp) for side in zip(*chosen, strict=True)) if chosen else ([], [])
    made = [f"{names[a]}:{names[b]}" for a, b in chosen]
    if sparse.issparse(X):
        columns = sparse.csc_matrix(X)
        whole: Any = sparse.hstack([columns, columns[:, first].multiply(columns[:, second])], format="csc")
    else:
        table = np.asarray(X, dtype=np.float64)
        whole = np.empty((len(table), p + len(chosen)), order="F")
        whole[:, :p] = table
        for at, (a, b) in enumerate(chosen, start=p):
            np.multiply(table[:, a], table[:, b], out=whole[:, at])
        if feature_names(X) is not None:
            whole = type(X)(whole, columns=[*names, *made], index=X.index)  # type: ignore[call-arg, attr-defined]
    rules = []
    if heredity is not None:
        how = "all" if heredity == "strong" else "any"
        called: list[Any] = list(range(p + len(chosen)))  # a sparse matrix or an array has no names
        if feature_names(whole) is not None and len({*names, *made}) == len(called):
            called = [*names, *made]
        rules = [requires(called[p + at], [called[a], called[b]], how) for at, (a, b) in enumerate(chosen)]
    return Interactions(whole, [*names, *made], chosen, rules)


def as_pair(pair: Any, names: list[str]) -> tuple[int, int]:
    """Return the positions of two columns, named or numbered."""
    places = {name: j for j, name in enumerate(names)}
    try:
        a, b = (places[each] if each in places else int(each) for each in pair)
    except (TypeError, ValueError, KeyError):
        raise InvalidInputError(f"pairs must hold pairs of columns of X, got {quoted(pair)}.") from None
    if not (0 <= a < len(names) and 0 <= b < len(names)) or a == b:
        raise InvalidInputError(f"pairs must hold two different columns of X each, got {quoted(pair)}.")
    return a, b
