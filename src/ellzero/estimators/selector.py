"""Selection of features as a step of scikit-learn's pipelines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ellzero.base.signatures import arguments_of
from ellzero.base.validation import as_flag
from ellzero.estimators.arguments import ProblemArguments, SizeArguments
from ellzero.estimators.single_fit import L0Classifier, L0Regressor
from ellzero.problem.losses import HUBER_DELTA, get_loss


@dataclass(kw_only=True, eq=False, repr=False)
class L0Selector(SelectorMixin, BaseEstimator, ProblemArguments, SizeArguments):
    """Keeps the features that an L0 model uses: a transformer, for other estimators to follow in a pipeline.

    ``SelectFromModel(L0Classifier(k=3))`` keeps the features with coefficients above the mean, often a single one; this one
    keeps all that the model uses.

    Parameters
    ----------
    k : int, optional
        The largest number of features; all classes (or targets) share them. With neither ``k`` nor ``lambda_0``, ``criterion``
        chooses.
    regression : bool
        The target holds numbers, otherwise labels.
    loss : str
        Of labels, as in :class:`ellzero.L0Classifier`. With ``regression``, "huber" takes the place of the squared error.
    huber_delta : float
        As in :class:`ellzero.L0Regressor`.
    lambda_0, lambda_1, lambda_2, algorithm, criterion, n_candidates, max_support, class_weight, fit_intercept, standardize,
    lower, upper, unpenalized, feature_cost, groups, rules, tol, n_jobs :
        As in :class:`ellzero.L0Classifier`; ``class_weight`` is for labels.

    Attributes
    ----------
    estimator_ : the fitted L0Classifier or L0Regressor
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> import ellzero as ez
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y, truth = ez.datasets.make_classification(300, 100, 3, s=3.0, random_state=0)
    >>> model = make_pipeline(ez.L0Selector(k=3), LogisticRegression(C=1e6)).fit(X, y)
    >>> model[0].get_support(indices=True).tolist()
    [0, 33, 66]
    >>> model[:-1].transform(X).shape
    (300, 3)

    """

    k: int | None = field(default=None, kw_only=False)
    regression: bool = False
    loss: str = "logistic"
    huber_delta: float = HUBER_DELTA
    class_weight: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def fit(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> L0Selector:
        """Fit the model whose features are kept.

        Parameters
        ----------
        X : (n, p) array, data frame or sparse matrix
        y : (n,) labels or, with ``regression``, numbers, (n,) or (n, targets)
        sample_weight : (n,), optional

        Returns
        -------
        self

        """
        loss = get_loss(self.loss, self.huber_delta)
        kind: Any = L0Regressor if as_flag("regression", self.regression) else L0Classifier
        settings = {**self.get_params(), "multi_class": loss.shared_classes}
        if self.regression and loss.is_classification:  # the default one, which is of labels
            del settings["loss"]
        self.estimator_ = kind(**arguments_of(kind, settings)).fit(X, y, sample_weight=sample_weight)
        self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.estimator_.support_] = True
        return mask
