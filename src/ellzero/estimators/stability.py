"""Stability selection: the share of random halves of the data on which each feature is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.notebook import html_table
from ellzero.base.progress import ProgressCallback, as_progress
from ellzero.base.quoting import shown
from ellzero.base.validation import as_count, as_generator, as_nonnegative, if_given
from ellzero.estimators.model_choice import ModelChoice, fit_chosen_models
from ellzero.estimators.resampling import run_tasks
from ellzero.estimators.training import Training
from ellzero.paths.options import path_options
from ellzero.plots import plot_stability
from ellzero.problem.making import make_problem
from ellzero.problem.model import feature_name
from ellzero.solvers.paths import PathOptions
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
SHOWN = 12  # features that the text lists


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """Selection frequencies of all features.

    Attributes
    ----------
    frequency : (p,) share of the subsamples whose model uses the feature
    n_subsamples : number of subsamples
    mean_size : mean number of features of their models
    names : names of the features, or None

    """

    frequency: Array
    n_subsamples: int
    mean_size: float
    names: list[str] | None = None

    def selected(self, threshold: float = 0.6) -> NDArray[np.int64]:
        """Return the features that at least the share `threshold` of the subsamples chose, the most frequent first."""
        order = np.argsort(-self.frequency, kind="stable")
        return order[self.frequency[order] >= as_threshold(threshold)]

    def false_bound(self, threshold: float = 0.6) -> float:
        """Return a bound on the expected number of useless features among those selected at `threshold`.

        It is q^2 / ((2 threshold - 1) p) for models of q features on average (Meinshausen and Buehlmann's theorem, for half of
        the rows in each subsample and useless features that are exchangeable); infinite up to a threshold of one half.
        """
        excess = 2.0 * as_threshold(threshold) - 1.0
        return self.mean_size**2 / (excess * len(self.frequency)) if excess > 0.0 else np.inf

    def to_frame(self) -> pd.DataFrame:
        """Return the features that were ever chosen, the most frequent first, as a pandas data frame."""
        order = self.selected(self._once)
        columns = {"feature": order, "name": [self.name(int(j)) for j in order], "frequency": self.frequency[order]}
        return need("pandas", "frame").DataFrame(columns)

    @property
    def _once(self) -> float:
        """A threshold that every feature reaches which any subsample chose."""
        return 0.5 / self.n_subsamples

    def _rows(self) -> list[list[str]]:
        """Return name and share of the features that were ever chosen."""
        return [[shown(self.name(int(j))), f"{100.0 * self.frequency[j]:.1f} %"] for j in self.selected(self._once)]

    def plot(self, ax: Axes | None = None, *, threshold: float = 0.6, top: int = 30) -> Axes:
        """Draw the `top` most frequent features as bars, into `ax` if it is given (needs matplotlib).

        A line marks the `threshold` of :meth:`selected`.
        """
        return plot_stability(self.frequency, self.names, ax, threshold=threshold, top=top)

    def name(self, j: int) -> str:
        """Return the name of feature `j`: the column's name, or x<j>."""
        return feature_name(self.names, j)

    def __repr__(self) -> str:
        lines = [f"stability over {self.n_subsamples} subsamples, models of {self.mean_size:.1f} features on average"]
        rows = self._rows()[:SHOWN]
        width = max((len(name) for name, _ in rows), default=0)
        return "\n".join(lines + [f"  {name:<{width}}  {share:>7}" for name, share in rows])

    def _repr_html_(self) -> str:
        return html_table(repr(self).splitlines()[0], ["feature", "chosen by"], self._rows())


def as_threshold(threshold: float) -> float:
    """Return a threshold that must be a share of the subsamples."""
    value = as_nonnegative("threshold", threshold)
    if not 0.0 < value <= 1.0:
        raise InvalidInputError(f"threshold must be above 0 and at most 1, got {threshold!r}.")
    return value


def stability_selection(
    X: object,
    y: ArrayLike,
    *,
    k: int | None = None,
    lambda_0: float | None = None,
    loss: str = "logistic",
    lambda_1: float = 0.0,
    lambda_2: float = 1e-3,
    algorithm: str = "local_search",
    n_subsamples: int = 100,
    standardize: bool = True,
    tol: float = 1e-6,
    n_jobs: int | None = None,
    random_state: int | np.random.Generator = 0,
    progress: bool | ProgressCallback | None = None,
    **settings: Any,
) -> Stability:
    """Count how often each feature is chosen on random halves of the rows.

    A feature that matters is chosen nearly always. The halves come in complementary pairs, and each holds half of the rows of
    every class.

    Parameters
    ----------
    X, y, loss, lambda_1, lambda_2, algorithm, standardize, tol :
        As in :func:`fit_path`, with the defaults of the estimators: columns are standardised.
    k, lambda_0 :
        At most this many features for each half, a price for each feature, or both. At least one must be given.
    n_subsamples : int
        Halves; an odd number is rounded up to pairs.
    n_jobs : int, optional
        Halves that are fitted at the same time, by joblib.
    random_state : seed or generator
    progress : bool or function, optional
        As in :func:`ellzero.fit_path`.
    settings :
        The other arguments of :func:`fit_path` that define the problem (``sample_weight``, ``lower``, ``unpenalized``, ...).

    Returns
    -------
    Stability

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(300, 100, 3, s=3.0, random_state=0)
    >>> stability = ez.stability_selection(X, y, k=5, n_subsamples=20)
    >>> sorted(stability.selected(0.9).tolist()) == truth.nonzero()[0].tolist()
    True

    """
    size, price = if_given(as_count, "k", k, 0), if_given(as_nonnegative, "lambda_0", lambda_0)
    if size is None and price is None:
        raise InvalidInputError("k or lambda_0 must be given.")
    choice = ModelChoice(() if size is None else (size,), price or 0.0)
    pairs = (as_count("n_subsamples", n_subsamples, 1) + 1) // 2
    options = path_options(algorithm=algorithm, tol=tol, progress=False)
    problem = make_problem(X, y, loss=loss, lambda_1=lambda_1, lambda_2=lambda_2, standardize=standardize, **settings)
    training = Training.of(problem)
    rng = as_generator("random_state", random_state)
    halves = [half for _ in range(pairs) for half in complementary_halves(training, rng)]
    shown = as_progress(progress, "models of half the rows")

    def show(done: int, support: NDArray[np.int32]) -> None:
        if shown:
            shown(done / len(halves), 0.0, len(support))

    tasks = [(training, choice, options, rows, f"subsample {number + 1}") for number, rows in enumerate(halves)]
    supports = run_tasks(chosen_features, tasks, n_jobs, show)
    chosen = np.bincount(np.concatenate(supports), minlength=problem.design.shape[1])
    sizes = [problem.penalty.counted(support) for support in supports]
    return Stability(chosen / len(halves), len(halves), float(np.mean(sizes)), problem.design.names)


def complementary_halves(training: Training, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return two halves of the rows of positive weight, without a row in common; each has half of the rows of every class."""
    problem = training.problem
    counted = np.flatnonzero(problem.w)
    strata = [counted]
    if len(training.classes):  # rows with the same labels
        _, kind = np.unique(problem.y[counted], axis=0, return_inverse=True)
        strata = [counted[kind.ravel() == k] for k in range(kind.max() + 1)]
    halves: tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]] = ([], [])
    for rows in strata:
        if len(rows) < 2:
            raise InvalidInputError("y must have at least two rows of each class for subsamples.")
        shuffled = rng.permutation(rows)
        halves[0].append(shuffled[: len(rows) // 2])
        halves[1].append(shuffled[len(rows) // 2 :][: len(rows) // 2])
    return [np.concatenate(half) for half in halves]


def chosen_features(
    training: Training, choice: ModelChoice, options: PathOptions, rows: NDArray[np.int64], name: str
) -> NDArray[np.int32]:
    """Return the features of the model that is fitted on some rows."""
    models, _ = fit_chosen_models(training.on_rows(rows, name), choice, options)
    return models[0].support
