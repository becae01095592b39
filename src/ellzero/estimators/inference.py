"""Robust standard errors, intervals and p-values after selection: some rows choose the features, the others measure.

Figures computed from the rows that chose the features are wrong, often by far: of a hundred useless features the best one looks
significant. Rows that had no say in the choice do not have that fault, whatever the choice was.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.model_selection import train_test_split

from ellzero.base.devices import at_hand
from ellzero.base.errors import FragileModelWarning, InvalidInputError
from ellzero.base.notebook import html_table, text_table
from ellzero.base.quoting import quoted, shown
from ellzero.base.validation import as_choice, as_nonnegative, as_vector
from ellzero.design import Design, as_design
from ellzero.estimators.single_fit import L0Classifier, L0Regressor
from ellzero.estimators.stored_input import read_columns
from ellzero.problem.losses import get_loss
from ellzero.problem.making import as_names
from ellzero.problem.model import feature_name
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
MEASURED = ("logistic", "squared_error")
MOST_STEPS = 100
CONVERGED = 1e-12  # Newton's decrement
LEAST_INFORMATION = 1e-7  # for each row, of the standardised columns: below that, some coefficient has no finite estimate


@dataclass(frozen=True, eq=False, repr=False)
class Inference:
    """Estimates on rows that did not choose the features, as :func:`inference` returns them.

    Attributes
    ----------
    support : indices of the chosen features
    coef : their coefficients, refitted without any penalty on the rows that measure
    intercept : float
    covariance : of the coefficients and, last, the intercept: robust (HC3), valid also if the model is not quite right
    choosing, measuring : the rows that chose the features, and those that measured
    loss : "logistic" or "squared_error"
    classes : the two labels, the second of which the coefficients speak for; None for numbers
    level : of the intervals

    """

    support: NDArray[np.int64]
    coef: Array
    intercept: float
    covariance: Array
    choosing: NDArray[np.int64]
    measuring: NDArray[np.int64]
    loss: str
    classes: NDArray[Any] | None
    level: float
    names: list[str] | None = None

    @property
    def standard_error(self) -> Array:
        """Of the coefficients; robust (HC3)."""
        return np.sqrt(np.diag(self.covariance)[:-1])

    @property
    def _odds(self) -> bool:
        """Whether coefficients are logarithms of odds ratios."""
        return self.classes is not None

    @cached_property
    def _distribution(self) -> Any:
        """The distribution of an estimate's error over its standard error."""
        return norm if self._odds else student(len(self.measuring) - len(self.coef) - 1)

    @property
    def interval(self) -> Array:
        """(features, 2) lower and upper end of the interval of each coefficient, at `level`, one at a time."""
        half = float(self._distribution.ppf(0.5 + 0.5 * self.level)) * self.standard_error
        return np.column_stack([self.coef - half, self.coef + half])

    @property
    def p_value(self) -> Array:
        """Of the hypothesis that a feature's coefficient is zero, one at a time."""
        return np.asarray(2.0 * self._distribution.sf(np.abs(self.coef) / self.standard_error))

    @property
    def p_adjusted(self) -> Array:
        """P-values that allow for several features, by Holm's method."""
        order, m = np.argsort(self.p_value), len(self.coef)
        stepped = np.maximum.accumulate(self.p_value[order] * np.arange(m, 0, -1))
        out = np.empty(m)
        out[order] = np.minimum(stepped, 1.0)
        return out

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each feature, as a pandas data frame; with two classes also odds ratios and their intervals."""
        columns = {"feature": self.support, "name": [feature_name(self.names, int(j)) for j in self.support]}
        return need("pandas", "frame").DataFrame(columns | self._figures())

    def _figures(self) -> dict[str, Array]:
        """Return the columns of numbers by their names, with two classes also odds ratios and their intervals."""
        lower, upper = self.interval.T
        figures = {
            "coefficient": self.coef,
            "standard_error": self.standard_error,
            "lower": lower,
            "upper": upper,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
        }
        with np.errstate(over="ignore"):
            odds = {"odds_ratio": np.exp(self.coef), "odds_lower": np.exp(lower), "odds_upper": np.exp(upper)}
        return figures | (odds if self._odds else {})

    def _heading(self) -> str:
        """Return what was done, in a line."""
        about = "" if self.classes is None else f" of {shown(self.classes[1])} against {shown(self.classes[0])}"
        return (
            f"{self.loss} model{about}: {len(self.coef)} features, chosen on {len(self.choosing)} rows, measured on the other "
            f"{len(self.measuring)}"
        )

    def _notes(self) -> list[str]:
        """Return what may be said, and what may not."""
        return [
            "Standard errors are robust (HC3). The rows that measured did not choose the features. Intervals "
            f"({100.0 * self.level:g} %) and p-values hold for one feature at a time; p adjusted (Holm) allows for all.",
            "Another split may choose other features, and none of this is about causes.",
        ]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of the table."""
        header = ["feature", "coefficient", "robust s.e.", "lower", "upper", "p", "p adjusted", *["odds ratio"][: self._odds]]
        columns = [
            [p_words(value) if head.startswith("p") else f"{value:.4g}" for value in values]
            for head, values in zip(header[1:], self._figures().values(), strict=False)  # without the intervals of odds ratios
        ]
        names = [shown(feature_name(self.names, int(j))) for j in self.support]
        return header, [list(row) for row in zip(names, *columns, strict=True)]

    def __repr__(self) -> str:
        header, rows = self._table()
        return "\n".join([self._heading(), *text_table([header, *rows]), *self._notes()])

    def _repr_html_(self) -> str:
        return html_table(self._heading(), *self._table(), self._notes())


def p_words(p: float) -> str:
    """Return a p-value with no more digits than it has meaning."""
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"


def inference(
    X: object,
    y: ArrayLike,
    *,
    k: int | None = None,
    split: float = 0.5,
    loss: str = "logistic",
    lambda_2: float = 1e-3,
    algorithm: str = "local_search",
    level: float = 0.95,
    unpenalized: Any = None,
    feature_names: Sequence[str] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Inference:
    """Choose features on some rows, and return robust standard errors, intervals and p-values from the others.

    The other rows did not choose the features, so ordinary statistics holds for them: the model of the chosen features is
    fitted to them without any penalty. On the rows that chose the features, p-values would be far too small.

    Parameters
    ----------
    X : (n, p) array, data frame, sparse matrix, column store or Dask array
    y : (n,) labels of two classes or, for ``loss="squared_error"``, numbers
    k : int, optional
        The largest number of features; by default the extended BIC chooses.
    split : float
        The share of the rows that choose the features, above 0 and below 1; classes keep their shares on both sides.
    loss : {"logistic", "squared_error"}
    lambda_2, algorithm, unpenalized, feature_names, n_jobs :
        Of the choice, as in :class:`ellzero.L0Classifier`.
    level : float
        Of the intervals.
    random_state : int
        Seed of the split.

    Returns
    -------
    Inference

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(600, 100, 3, s=3.0, random_state=0)
    >>> found = ez.inference(X, y, k=3)
    >>> found.support.tolist(), len(found.choosing), len(found.measuring)
    ([0, 33, 66], 300, 300)
    >>> bool((found.p_adjusted < 0.001).all())
    True

    """
    as_choice("loss", loss, MEASURED)
    share, confidence = open_share("split", split), open_share("level", level)
    names = None if feature_names is None else as_names(feature_names, X)
    design = as_design(X, names)
    n = design.shape[0]
    classes: NDArray[Any] | None = None
    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        raise InvalidInputError(f"inference measures one output: take a column of y, which has {np.shape(y)[1]}.")
    of_labels = get_loss(loss).is_classification
    if of_labels:
        labels = {*np.asarray(at_hand(y)).ravel().tolist()}
        if len(labels) > 2:
            raise InvalidInputError(
                f"inference measures one output: y has {len(labels)} classes, take one of them against the rest (y == label)."
            )
        target, classes = get_loss(loss).encode(y, n, np.full(n, 1.0 / n))
    else:
        target = as_vector("y", y, n)
    strata = target if of_labels else None
    try:
        choosing, measuring = train_test_split(np.arange(n), train_size=share, random_state=random_state, stratify=strata)
    except ValueError:
        raise InvalidInputError(f"split={share:g} leaves too few rows, or too few of a class, of the {n} rows of X.") from None
    chosen = np.zeros(n)
    chosen[choosing] = 1.0
    kind: Any = L0Classifier if of_labels else L0Regressor
    settings = {"k": k, "lambda_2": lambda_2, "algorithm": algorithm, "unpenalized": unpenalized, "n_jobs": n_jobs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FragileModelWarning)  # of the choice: its coefficients are not used
        model = kind(**settings).fit(X, target, sample_weight=chosen)
    support = model.support_
    coef, intercept, covariance = unpenalised_fit(
        rows_of(design, support, measuring),
        target[measuring],
        of_labels,
        [feature_name(design.names, int(j)) for j in support],
    )
    return Inference(
        support=support,
        coef=coef,
        intercept=intercept,
        covariance=covariance,
        choosing=np.sort(choosing),
        measuring=np.sort(measuring),
        loss=loss,
        classes=classes,
        level=confidence,
        names=design.names,
    )


def open_share(name: str, value: Any) -> float:
    """Return a number above zero and below one."""
    number = as_nonnegative(name, value)
    if not 0.0 < number < 1.0:
        raise InvalidInputError(f"{name} must be above 0 and below 1, got {value!r}.")
    return number


def rows_of(design: Design, columns: NDArray[np.int64], rows: NDArray[np.int64]) -> Array:
    """Return some rows of some columns as a dense array."""
    part = read_columns(design, columns)
    return np.asarray((part.toarray() if sparse.issparse(part) else part)[rows], dtype=np.float64)


def unpenalised_fit(Z: Array, y: Array, of_labels: bool, names: list[str]) -> tuple[Array, float, Array]:
    """Return coefficients, intercept and the covariance of both (the intercept last) of a fit without any penalty."""
    n, q = Z.shape
    if n <= q + 1:
        raise InvalidInputError(f"split leaves {n} rows to measure {q} features; take fewer features, or a smaller split.")
    mean, spread = Z.mean(axis=0), Z.std(axis=0)
    constant = np.flatnonzero(spread <= 1e-12 * np.abs(mean))
    if len(constant):
        raise InvalidInputError(f"X: column {quoted(names[int(constant[0])])} is constant in the rows that measure.")
    A = np.column_stack([(Z - mean) / spread, np.ones(n)])
    if np.linalg.matrix_rank(A) <= q:
        raise InvalidInputError("X: the chosen columns depend on each other in the rows that measure; take fewer features.")
    gamma = logistic_fit(A, y > 0.0) if of_labels else np.linalg.lstsq(A, y, rcond=None)[0]
    share = expit(A @ gamma) if of_labels else np.zeros(n)
    curvature = share * (1.0 - share) if of_labels else np.ones(n)
    residual = (y > 0.0) - share if of_labels else y - A @ gamma
    inverse = np.linalg.inv(A.T @ (curvature[:, None] * A))
    leverage = curvature * np.einsum("ij,jk,ik->i", A, inverse, A)
    # HC3: a row's own residual is divided by 1 - leverage, which makes up for its pull on the fit.
    scores = A * (residual / np.maximum(1.0 - leverage, 1e-8))[:, None]
    covariance = inverse @ (scores.T @ scores) @ inverse
    back = np.zeros((q + 1, q + 1))  # from the standardised columns to those of X
    back[:q, :q] = np.diag(1.0 / spread)
    back[q, :q], back[q, q] = -mean / spread, 1.0
    beta = back @ gamma
    return beta[:q], float(beta[q]), back @ covariance @ back.T


def logistic_fit(A: Array, positive: NDArray[np.bool_]) -> Array:
    """Return the coefficients of the largest likelihood, by Newton's method with halved steps."""
    gamma = np.zeros(A.shape[1])
    signs = np.where(positive, 1.0, -1.0)

    def loss_at(at: Array) -> float:
        return float(np.logaddexp(0.0, -signs * (A @ at)).sum())

    value = loss_at(gamma)
    for _ in range(MOST_STEPS):
        share = expit(A @ gamma)
        slope = A.T @ (share - positive)
        information = A.T @ ((share * (1.0 - share))[:, None] * A)
        if (signs * (A @ gamma) > 0.0).all() or np.linalg.eigvalsh(information)[0] < LEAST_INFORMATION * len(A):
            break  # coefficients grow without end where the classes, or some rows of them, can be told apart
        step = np.linalg.solve(information, slope)
        if float(slope @ step) <= CONVERGED * value:
            return gamma
        scale = 1.0
        while scale > 1e-10 and loss_at(gamma - scale * step) > value:
            scale *= 0.5
        gamma = gamma - scale * step
        value = loss_at(gamma)
    raise InvalidInputError(
        "y: the chosen features separate the classes (nearly) perfectly in the rows that measure, so their coefficients have "
        "no finite estimate; use fewer features (k) or a smaller split."
    )
