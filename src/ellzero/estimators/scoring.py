"""Scores of held-out decision values; greater is better."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata
from sklearn.metrics import get_scorer

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import one_line, quoted, shown
from ellzero.design import is_stored
from ellzero.estimators.stored_input import StoredRows
from ellzero.estimators.targets import L0ClassifierBase, L0RegressorBase
from ellzero.estimators.training import Training
from ellzero.problem.losses import LOSSES

Array = NDArray[np.float64]
Scorer = Callable[..., float]
NEGATIVE_LOSS = "negative loss"
MOST_PARTS = 1000


def as_scorer(scoring: Any) -> Scorer | None:
    """Return the scorer of a name of scikit-learn, or a function of (estimator, X, y); None stands for the held-out loss."""
    if scoring is None:
        return None
    try:
        return get_scorer(scoring)
    except (ValueError, KeyError, TypeError):
        raise InvalidInputError(f"scoring must be None, the name of a scorer or a function, got {scoring!r}.") from None


def scorer_name(scoring: Any) -> str:
    """Return the name of a score, for tables and plots."""
    if scoring is None:
        return NEGATIVE_LOSS
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", type(scoring).__name__)


def is_loss(scoring: str) -> bool:
    """Return whether a score is the negative of a loss: people read it as a loss."""
    return scoring == NEGATIVE_LOSS or scoring.startswith("neg_")


def name_score(scoring: str, loss: str) -> str:
    """Return the name of a score, or of the loss that it is the negative of, in words."""
    if scoring == NEGATIVE_LOSS:
        return f"held-out {LOSSES[loss].words}"
    return f"held-out {shown(scoring.removeprefix('neg_')).replace('_', ' ')}"


class KnownDecision:
    """The decision values of the test rows."""

    decision: Array

    def _decision_values(self, X: Any) -> Array:
        """Return the decision values; refuse a scorer that asks for some of the rows only."""
        if np.shape(X)[:1] != (len(self.decision),):
            raise InvalidInputError("scoring must rate the model on all the rows that it is given.")
        return self.decision


class HeldOutClassifier(KnownDecision, L0ClassifierBase):
    """A fitted classifier whose decision values are known, for a scorer to look at."""

    def __init__(self, decision: Array, classes: NDArray[Any], loss: str) -> None:
        self.decision = decision
        self.classes = self.classes_ = classes
        self.loss = loss


class HeldOutRegressor(KnownDecision, L0RegressorBase):
    """A fitted regression whose predictions are known, for a scorer to look at."""

    def __init__(self, decision: Array) -> None:
        self.decision = decision


@dataclass(frozen=True, eq=False)
class HeldOutScore:
    """A score of decision values on the test rows of a split."""

    training: Training  # of all rows
    scorer: Any  # None for the held-out loss
    y: NDArray[Any]  # as the user gave it
    params: dict[str, Any]  # for the scorer: arrays with one entry per row (sample weights), or anything else
    name: str  # of a scorer of scikit-learn; empty for a user's function
    pos_label: Any  # the label that the scorers of scikit-learn see as 1, the other one as 0; None for the labels as they are

    @property
    def by_position(self) -> bool:
        """Whether a scorer sees the labels as 0 and 1."""
        return bool(self.name) and self.pos_label is not None

    def __call__(self, decision: Array, test: NDArray[np.int64]) -> Array:
        """Return a score for each point; `decision` has shape (test rows, points, outputs)."""
        training = self.training
        if self.name in FAST_SCORES and len(training.classes) == 2 and not self.params:
            return FAST_SCORES[self.name](decision[:, :, 0], training.targets[0][test, 0] > 0.0)
        design, y = training.problem.design, self.y[test]
        if self.by_position:
            y = (y == self.pos_label).astype(np.int64)
        X = StoredRows(design, test) if is_stored(design) else design.stored()[test]
        params = {name: on_rows(value, len(self.y), test) for name, value in self.params.items()}
        scores = np.empty(decision.shape[1])
        for point in range(decision.shape[1]):
            if point and np.array_equal(decision[:, point], decision[:, point - 1]):
                scores[point] = scores[point - 1]  # neighbouring points often share a model
            else:
                scores[point] = self.rate(self.view(decision[:, point]), X, y, params)
        return scores

    def in_parts(self, pieces: Iterable[tuple[Any, Array]], test: NDArray[np.int64], fold: int) -> Parts:
        """Return the scores of the models at all points, for each part of a fold's test rows.

        Decision values come in pieces, with their places among the test rows; all of them in one, if there is a scorer.
        """
        if self.scorer is None:
            return held_out_losses(self.training, pieces, test)
        ((_, decision),) = pieces
        return Parts(np.array([fold]), np.ones(1), self(decision, test)[:, None], np.ones(1))

    def rate(self, view: Any, X: Any, y: NDArray[Any], params: dict[str, Any]) -> float:
        """Return the score; if a scorer of scikit-learn asks for what such models do not have, say so in the user's terms."""
        try:
            value = self.scorer(view, X, y, **params)
        except AttributeError as error:
            if not ("predict_proba" in str(error) or "decision_function" in str(error)):
                raise
            whose = f"held-out models of loss={view.loss!r}" if isinstance(view, HeldOutClassifier) else "regressions"
            raise InvalidInputError(f"scoring needs probabilities, which {whose} do not have.") from error
        except ValueError as error:
            if not self.name:  # a user's function
                raise
            if "pos_label" in str(error):
                labels = " or ".join(f"pos_label={quoted(label)}" for label in view.classes_.tolist()[::-1])
                raise InvalidInputError(f"scoring={self.name!r} asks which class is the positive one: {labels}.") from error
            raise InvalidInputError(f"scoring={self.name!r} cannot rate these models: {one_line(error)}.") from error
        try:
            return float(value)
        except (TypeError, ValueError):
            raise InvalidInputError(f"scoring must return a number, got {quoted(value)}.") from None

    def view(self, decision: Array) -> Any:
        """Return an estimator with these decision values."""
        classes, loss = self.training.classes, self.training.problem.loss.name
        if not len(classes):
            return HeldOutRegressor(decision)
        if not self.by_position:
            return HeldOutClassifier(decision, classes, loss)
        return HeldOutClassifier(decision if self.pos_label == classes[1] else -decision, np.array([0, 1]), loss)


@dataclass(frozen=True, eq=False)
class Parts:
    """Scores of models on parts of some test rows. A part has the same rows in all splits, so that differences are paired.

    The held-out loss has a part for each row, or 1,000 parts if there are more rows. Any other score has one for each fold.
    """

    number: NDArray[np.int64]  # (b,) increasing: which parts
    weight: Array  # (b,) of their rows
    scores: Array  # (points, b), weighted means over the rows
    repeats: Array  # (b,) how many equal rows a part stands for: a weight of 3 is a row that is there three times

    @property
    def count(self) -> float:
        """How many rows, or parts, the scores are of."""
        return float(self.repeats[self.weight > 0.0].sum())

    @property
    def mean(self) -> Array:
        """(points,) the score of all the parts; nan if no row has a weight."""
        total = float(self.weight.sum())
        return self.scores @ self.weight / total if total > 0.0 else np.full(len(self.scores), np.nan)


def joined(folds: Sequence[Parts]) -> Parts:
    """Return the parts of all folds; the rows of one may be tested in several of them, by different models."""
    number = np.unique(np.concatenate([fold.number for fold in folds]))
    weight, total, repeats = np.zeros(len(number)), np.zeros((len(folds[0].scores), len(number))), np.ones(len(number))
    for fold in folds:
        at = np.searchsorted(number, fold.number)
        weight[at] += fold.weight
        repeats[at] = fold.repeats
        total[:, at] += fold.scores * fold.weight
    return Parts(number, weight, total / np.where(weight > 0.0, weight, 1.0), repeats)


def held_out_losses(training: Training, pieces: Iterable[tuple[Any, Array]], test: NDArray[np.int64]) -> Parts:
    """Return the negative of the weighted mean loss on each part of the test rows, averaged over outputs.

    The decision values come in pieces, with their places among the test rows.
    """
    w, y = training.problem.w[test], training.output_targets[test]
    numbers, part = np.unique(test % MOST_PARTS, return_inverse=True)
    total, mass = np.zeros((len(numbers), 1)), np.zeros(len(numbers))
    for places, values in pieces:
        weight, target, decision = w[places], y[places], values
        known = ~np.isneginf(decision).all(axis=(0, 1))
        if not known.all():  # rows of a class that the training rows lack: no model can know it, and all would lose without end
            weight = np.where((target[:, ~known] > 0.0).any(axis=1), 0.0, weight)
            target, decision = target[:, known], decision[:, :, known]
        losses = training.problem.loss.value(decision, target[:, None, :])
        sums = sparse.csr_matrix((weight, part[places], np.arange(len(weight) + 1)), (len(weight), len(numbers))).T
        total = total + sums @ (losses if training.problem.is_multinomial else losses.mean(axis=2))
        mass += np.bincount(part[places], weight, len(numbers))
    repeats = repeats_of(training.problem.w)[numbers] if len(training.problem.w) <= MOST_PARTS else np.ones(len(mass))
    return Parts(numbers, mass, -(total / np.where(mass > 0.0, mass, 1.0)[:, None]).T, repeats)


def repeats_of(w: Array) -> Array:
    """Return how many equal rows each row stands for, if all weights are whole multiples of the smallest; otherwise one."""
    counted = w > 0.0
    multiples = w / w[counted].min()
    whole = np.rint(multiples)
    return np.where(counted, whole, 1.0) if np.allclose(multiples, whole, rtol=1e-9, atol=0.0) else np.ones(len(w))


def areas(decision: Array, positive: NDArray[np.bool_]) -> Array:
    """Return the area under the ROC curve of each column: the share of pairs in the right order, ties counted half."""
    first, second = int(positive.sum()), int((~positive).sum())
    if not first or not second:
        return np.full(decision.shape[1], np.nan)
    ranks = rankdata(decision, axis=0)[positive].sum(axis=0)
    return np.asarray((ranks - 0.5 * first * (first + 1)) / (first * second))


def accuracies(decision: Array, positive: NDArray[np.bool_]) -> Array:
    """Return the share of right labels in each column."""
    return np.asarray(((decision > 0.0) == positive[:, None]).mean(axis=0))


# scikit-learn's scorers take milliseconds for one model, and a grid has thousands of models.
FAST_SCORES = {"roc_auc": areas, "accuracy": accuracies}


def on_rows(value: Any, rows: int, test: NDArray[np.int64]) -> Any:
    """Return the test rows of an argument with one entry per row; anything else as it is."""
    return np.asarray(value)[test] if np.ndim(value) > 0 and len(value) == rows else value


def accepts_weights(scorer: Any) -> bool:
    """Return whether a scorer takes sample weights: those of scikit-learn do, a user's own function may not."""
    try:
        parameters = inspect.signature(scorer).parameters
    except (TypeError, ValueError):
        return False
    return "sample_weight" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
