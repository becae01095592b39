"""The two kinds of estimators, by their target: classifiers for labels, regressors for numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted
from ellzero.base.validation import as_choice, as_response, as_vector
from ellzero.estimators.base import L0Estimator
from ellzero.estimators.training import Training
from ellzero.paths.fitting import fit_path
from ellzero.problem.losses import LOSSES, Loss, Multinomial, get_loss
from ellzero.problem.model import Model
from ellzero.tables.target import MANY_WHOLE

Array = NDArray[np.float64]
MULTI_CLASS = ("auto", "multinomial", "ovr", "ovr_shared")
FEW_ROWS = 10  # many classes with fewer rows each than this look like the numbers of a regression


class ProbabilityMethod:
    """A method of estimators that have probabilities: logistic ones always, others with ``probability=True``.

    Others lack it, and say what to use. (scikit-learn's `available_if` says only that it is not there.)
    """

    def __init__(self, method: Callable[..., Array]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, estimator: Any, owner: Any = None) -> Callable[..., Array]:
        if estimator is None:
            return self.method
        loss = estimator._as_fitted("loss")
        if not (getattr(LOSSES.get(loss), "has_probabilities", False) or estimator._as_fitted("probability")):
            raise AttributeError(
                f"{self.method.__name__} needs probabilities, which loss={loss!r} does not have: use loss='logistic', or "
                "probability=True, or rank rows by decision_function."
            )
        return MethodType(self.method, estimator)


def class_probabilities(log_odds: Array, multinomial: bool = False) -> Array:
    """Return the probabilities of all classes, which sum to one, of shape (n, classes).

    `log_odds` has one column for two classes, that of the second; or one for each class, against the rest or multinomial.
    """
    if multinomial:
        return np.asarray(softmax(log_odds, axis=1))
    share = expit(log_odds)
    if share.shape[1] == 1:
        return np.column_stack([1.0 - share, share])
    total = share.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, share / np.where(total > 0.0, total, 1.0), 1.0 / share.shape[1])


def platt_scaling(decision: Array, y: Array, w: Array, rows: float) -> tuple[float, float]:
    """Return slope and intercept of the log-odds as a linear function of held-out decision values.

    The targets are Platt's: a little inside 0 and 1, so that values that separate the classes do not give an infinite slope.
    """
    positive = w[y > 0.0].sum() / w.sum() * rows
    target = np.where(y > 0.0, (positive + 1.0) / (positive + 2.0), 1.0 / (rows - positive + 2.0))
    path = fit_path(
        np.concatenate([decision, decision])[:, None],
        np.repeat([1, 0], len(y)),
        sample_weight=np.concatenate([w * target, w * (1.0 - target)]),
        lambda_0=[0.0],
        unpenalized=[0],
        standardize=True,
    )
    return float(path.coef[0, 0]), float(path.intercept[0])


def ordered_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return the different labels in order; refuse a target that cannot be classes, or looks like that of a regression."""
    continuous = type_of_target(y).startswith("continuous")
    if not continuous:
        check_classification_targets(y)
    classes = np.unique(y)
    if continuous or (classes.dtype.kind in "iuf" and len(classes) > MANY_WHOLE and FEW_ROWS * len(classes) > len(y)):
        raise InvalidInputError(
            f"Unknown label type: y has {len(classes)} different numbers in {len(y)} rows; L0Regressor predicts numbers "
            "(regression=True in L0Selector, loss='squared_error' in functions), and y.astype(str) makes each of them a class."
        )
    return classes


def check_positive(label: Any, classes: NDArray[Any]) -> None:
    """Refuse a positive label that is not one of two classes."""
    if len(classes) != 2:
        raise InvalidInputError(f"pos_label is for two classes, y has {len(classes)}.")
    if label not in classes.tolist():
        first, second = map(quoted, classes.tolist())
        raise InvalidInputError(f"pos_label must be a label of y, {first} or {second}, got {quoted(label)}.")


class L0ClassifierBase(ClassifierMixin, L0Estimator):
    """The base of classifiers; with more than two classes, each has an output."""

    multi_class_: str | None = None  # how more than two classes are learnt; None for two

    @property
    def _loss(self) -> Loss:
        return get_loss(Multinomial.name if self.multi_class_ == Multinomial.name else self._as_fitted("loss"))

    def _check_multi_class(self) -> str:
        """Return how more than two classes are to be learnt, checked."""
        choice, loss = as_choice("multi_class", self.multi_class, MULTI_CLASS), get_loss(self.loss)
        if loss.couples_outputs:
            raise InvalidInputError("loss='multinomial' is loss='logistic' with multi_class='multinomial' in an estimator.")
        if choice == Multinomial.name and choice != loss.shared_classes:
            raise InvalidInputError(f"multi_class='multinomial' is for loss='logistic', got loss={quoted(self.loss)}.")
        return loss.shared_classes if choice == "auto" else choice

    def _encode(self, y: NDArray[Any], weight: Array) -> tuple[list[Array], NDArray[Any], Array]:
        """Return the target of each problem, the labels, and the weights of the rows."""
        multi_class = self._check_multi_class()
        counted = weight > 0.0
        try:
            if y.dtype == object and any(label is None for label in y):
                raise TypeError("a row has no label")
            self.classes_ = ordered_labels(y[counted])
        except TypeError as error:  # also labels that have no order
            if "bytes" in str(error):
                raise
            raise InvalidInputError("y must hold labels of one type, and no row may lack one.") from None
        if len(self.classes_) < 2:
            raise InvalidInputError(f"y must have at least two classes, got {len(self.classes_)} class.")
        code = np.searchsorted(self.classes_, np.where(counted, y, self.classes_[0]))
        if self.pos_label is not None:
            check_positive(self.pos_label, self.classes_)
        if self.class_weight is not None:
            weight = weight * self._class_weights(y[counted], weight[counted])[code]
        if len(self.classes_) == 2:
            return [np.where(code == 1, 1.0, -1.0)], self.classes_, weight
        self.multi_class_ = multi_class
        if multi_class == Multinomial.name:
            return [code.astype(np.float64)], self.classes_, weight
        signs = np.where(code[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        return [signs] if multi_class == "ovr_shared" else list(np.ascontiguousarray(signs.T)), self.classes_, weight

    def _class_weights(self, y: NDArray[Any], weight: Array) -> Array:
        """Return the factor of each class that `class_weight` asks for."""
        if self.class_weight == "balanced":  # by weighted counts: a weight of two is a row twice
            counts = np.array([weight[y == label].sum() for label in self.classes_])
            with np.errstate(over="ignore"):
                factors = np.asarray(counts.sum() / (len(counts) * counts))
            if not np.isfinite(factors).all():
                rare = self.classes_[int(np.argmin(counts))]
                raise InvalidInputError(
                    f"class_weight='balanced' cannot make up for class {rare!r:.60}: it weighs next to nothing."
                )
            return factors
        if not isinstance(self.class_weight, dict):
            raise InvalidInputError(f"class_weight must be None, 'balanced' or a dict, got {self.class_weight!r}.")
        unknown = [label for label in self.class_weight if label not in self.classes_.tolist()]
        if unknown:
            raise InvalidInputError(f"class_weight names a class that y does not have: {unknown[0]!r}.")
        labels = self.classes_.tolist()
        factors = as_vector("class_weight", [self.class_weight.get(label, 1.0) for label in labels], len(labels))
        if (factors <= 0.0).any():  # a class without weight could not be learnt
            raise InvalidInputError(f"class_weight must be positive, got {factors.min():g}.")
        return factors

    def decision_function(self, X: object) -> Array:
        """Return scores: of two classes the second has those above zero; of more classes the largest score wins.

        Parameters
        ----------
        X : (n, p) array, data frame, sparse matrix, column store or Dask array

        Returns
        -------
        (n,) or (n, classes)

        """
        scores = self._decision_values(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: object) -> NDArray[Any]:
        """Return predicted labels, as they were given to fit.

        Parameters
        ----------
        X : (n, p) array, data frame, sparse matrix, column store or Dask array

        Returns
        -------
        (n,)

        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @ProbabilityMethod
    def predict_proba(self, X: object) -> Array:
        """Return the probabilities of the classes, in the order of `classes_`.

        Logistic and multinomial models have them by themselves, others through Platt scaling (``probability=True``). The
        probabilities of more than two classes, each against the rest, are scaled to sum to one.

        Parameters
        ----------
        X : (n, p) array, data frame, sparse matrix, column store or Dask array

        Returns
        -------
        (n, classes)

        """
        return self._shares(self._decision_values(X))

    def _shares(self, scores: Array) -> Array:
        """Return the probabilities of the classes for decision values, of shape (n, outputs)."""
        slope, intercept = (1.0, 0.0) if self._loss.has_probabilities else self.calibration_.T
        return class_probabilities(slope * scores + intercept, self._loss.couples_outputs)

    @ProbabilityMethod
    def predict_log_proba(self, X: object) -> Array:
        """Return the logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        X : (n, p) array, data frame, sparse matrix, column store or Dask array

        Returns
        -------
        (n, classes)

        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _calibrate(self, training: Training, held_out: Array) -> None:
        """Set the Platt scaling of each output, from held-out decision values of shape (n, outputs), nan for rows without."""
        seen = ~np.isnan(held_out).any(axis=1) & (training.problem.w > 0.0)
        w = training.problem.w[seen]
        self.calibration_ = np.array(
            [
                platt_scaling(values, y[seen], w, self._rows)
                for values, y in zip(held_out[seen].T, training.output_targets.T, strict=True)
            ]
        )


class L0RegressorBase(RegressorMixin, L0Estimator):
    """The base of regressors: the target is a number, or several on shared features."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @property
    def _loss(self) -> Loss:
        loss = get_loss(self._as_fitted("loss"), self._as_fitted("huber_delta"))
        if loss.is_classification:
            raise InvalidInputError(f"loss must be one of numbers, 'squared_error' or 'huber', got {loss.name!r}.")
        return loss

    def _encode(self, y: NDArray[Any], weight: Array) -> tuple[list[Array], NDArray[Any], Array]:
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        return [as_response(y, len(y))], np.empty(0), weight

    def _set_coefficients(self, models: list[Model]) -> None:
        super()._set_coefficients(models)
        if len(self.intercept_) == 1:
            self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])

    def predict(self, X: object) -> Array:
        """Return predicted numbers.

        Parameters
        ----------
        X : (n, p) array, data frame, sparse matrix, column store or Dask array

        Returns
        -------
        (n,) or (n, targets)

        """
        values = self._decision_values(X)
        return values[:, 0] if values.shape[1] == 1 else values
