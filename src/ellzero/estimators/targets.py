"""The two kinds of target: labels, and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from ellzero.base.errors import InvalidInputError
from ellzero.base.validation import as_vector
from ellzero.estimators.base import L0Estimator
from ellzero.estimators.calibration import platt_scaling
from ellzero.estimators.training import Training
from ellzero.problem.model import Model

__all__ = ["L0ClassifierBase", "L0RegressorBase", "class_probabilities"]

Array = NDArray[np.float64]


def has_probabilities(estimator: Any) -> bool:
    """Logistic models have them; others when they were asked for."""
    if estimator.loss == "logistic" or estimator.probability:
        return True
    raise AttributeError(
        f"predict_proba needs loss='logistic' or probability=True, this estimator has loss={estimator.loss!r}."
    )


def class_probabilities(log_odds: Array) -> Array:
    """Of two classes, from the log-odds of the second; of several, from those of each against the rest, made to sum to one."""
    share = expit(log_odds)
    if share.shape[1] == 1:
        return np.column_stack([1.0 - share, share])
    total = share.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, share / np.where(total > 0.0, total, 1.0), 1.0 / share.shape[1])


class L0ClassifierBase(ClassifierMixin, L0Estimator):
    """Labels of any kind; more than two classes are one problem each, that class against the rest."""

    def _loss_name(self) -> str:
        return self.loss

    def _encode(self, y: NDArray[Any], weight: Array) -> tuple[list[Array], NDArray[Any], Array]:
        """The targets -1 and +1 of each output, the labels, and the weights of the rows."""
        check_classification_targets(y)
        counted = weight > 0.0
        self.classes_ = np.unique(y[counted])
        if len(self.classes_) < 2:
            raise InvalidInputError(f"y must have at least two classes, got {len(self.classes_)} class.")
        code = np.searchsorted(self.classes_, np.where(counted, y, self.classes_[0]))
        if self.class_weight is not None:
            weight = weight * self._class_weights(y[counted], weight[counted])[code]
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return [np.where(code == c, 1.0, -1.0) for c in positive], self.classes_, weight

    def _class_weights(self, y: NDArray[Any], weight: Array) -> Array:
        if self.class_weight == "balanced":  # by weighted counts: a weight of two is a row twice
            counts = np.array([weight[y == label].sum() for label in self.classes_])
            return counts.sum() / (len(counts) * counts)
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
        """Scores: above zero is the second class, or of shape (n, classes) when there are more than two.

        Parameters
        ----------
        X : (n, p) array, data frame, sparse matrix, column store or Dask array

        Returns
        -------
        (n,) or (n, classes)

        """
        scores = self._outputs(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: object) -> NDArray[Any]:
        """Labels, as they were given to fit.

        Parameters
        ----------
        X : (n, p) array, data frame, sparse matrix, column store or Dask array

        Returns
        -------
        (n,)

        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(has_probabilities)
    def predict_proba(self, X: object) -> Array:
        """Probabilities of the classes, in the order of `classes_`.

        Logistic models have them by themselves, others through Platt scaling (``probability=True``). With more than two
        classes, the probabilities of each class against the rest are scaled to sum to one.

        Parameters
        ----------
        X : (n, p) array, data frame, sparse matrix, column store or Dask array

        Returns
        -------
        (n, classes)

        """
        scores = self._outputs(X)
        slope, intercept = (1.0, 0.0) if self.loss == "logistic" else self.calibration_.T
        return class_probabilities(slope * scores + intercept)

    @available_if(has_probabilities)
    def predict_log_proba(self, X: object) -> Array:
        """Logarithms of :meth:`predict_proba`.

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
        """Platt scaling of each output from held-out decision values of shape (n, outputs), nan where there is none."""
        seen = ~np.isnan(held_out).any(axis=1) & (training.problem.w > 0.0)
        w = training.problem.w[seen]
        self.calibration_ = np.array(
            [
                platt_scaling(values, y[seen], w, self._rows)
                for values, y in zip(held_out[seen].T, training.targets, strict=True)
            ]
        )


class L0RegressorBase(RegressorMixin, L0Estimator):
    """Numbers; squared error."""

    def _loss_name(self) -> str:
        return "squared_error"

    def _encode(self, y: NDArray[Any], weight: Array) -> tuple[list[Array], None, Array]:
        return [np.asarray(y, dtype=np.float64)], None, weight

    def _adopt(self, models: list[Model]) -> None:
        super()._adopt(models)
        self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])

    def _coef_shape(self) -> tuple[int, ...]:
        return (self.n_features_in_,)

    def predict(self, X: object) -> Array:
        """Predicted numbers.

        Parameters
        ----------
        X : (n, p) array, data frame, sparse matrix, column store or Dask array

        Returns
        -------
        (n,)

        """
        return self._outputs(X)[:, 0]
