"""Estimators that fit one model: of a given size or price per feature, or chosen by an information criterion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ellzero.base.errors import InvalidInputError
from ellzero.base.validation import as_choice, as_count, as_nonnegative, if_given
from ellzero.estimators.arguments import ClassArguments, FitArguments, NumberArguments, SingleFitArguments
from ellzero.estimators.base import L0Estimator
from ellzero.estimators.choice_rules import FEWEST_FEATURES
from ellzero.estimators.model_choice import CRITERIA, FoundModels, ModelChoice, fit_by_criterion, fit_chosen_models
from ellzero.estimators.targets import L0ClassifierBase, L0RegressorBase
from ellzero.estimators.training import warn_at_limit


class SingleFit(L0Estimator):
    """The `fit` of estimators without cross-validation."""

    def fit(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Learn a model with few features.

        Parameters
        ----------
        X : (n, p) array, data frame, sparse matrix, column store or Dask array
        y : (n,) labels or, for a regression, numbers, (n,) or (n, targets)
        sample_weight : (n,), optional
            Not negative; a weight of two counts as a row twice, zero drops a row.

        Returns
        -------
        self

        """
        return self._fit_whole(X, y, sample_weight)

    def _learn(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        """Set the results of a fit."""
        lambda_0 = if_given(as_nonnegative, "lambda_0", self.lambda_0)
        k = if_given(as_count, "k", self.k, 0)
        budget = if_given(as_nonnegative, "budget", self.budget)
        wanted = self._given() & {"k", "budget", "lambda_0"}
        if {"k", "budget"} <= wanted:
            raise InvalidInputError("k and budget cannot both be given.")
        largest = if_given(as_count, "max_support", self.max_support, 0)
        as_choice("criterion", self.criterion, CRITERIA)
        candidates = if_given(as_count, "n_candidates", self.n_candidates, 1)
        training = self._prepare(X, y, sample_weight)
        training = training.with_penalties(as_nonnegative("lambda_1", self.lambda_1), as_nonnegative("lambda_2", self.lambda_2))
        options = self._path_options(n_jobs=self.n_jobs, progress=self.progress)
        if not wanted:
            largest = min(FEWEST_FEATURES if largest is None else largest, training.problem.penalty.countable())
            models, searched, values = fit_by_criterion(training, self.criterion, self._rows, largest, options, candidates)
            self.criterion_ = sum(values)
            sizes = [training.problem.penalty.counted(model.support) for model in models]
            warn_at_limit(models, largest, training.problem)
            choice = ModelChoice(tuple(sizes))
            if training.problem.penalty.priced:  # the best model for its costs, not for its size
                choice = ModelChoice(lambda_0=models[0].lambda_0 or 0.0, largest=largest)
        else:
            choice = ModelChoice(() if k is None else (k,) * len(training.targets), lambda_0 or 0.0, budget=budget)
            models, searched = fit_chosen_models(training, choice, options)
        self._set_results(FoundModels(training, choice, models, searched), np.asarray(y))


@dataclass(eq=False, repr=False)
class L0Classifier(SingleFit, L0ClassifierBase, FitArguments, ClassArguments, SingleFitArguments):
    """A linear classifier that uses few features.

    Minimises ``sum_i w_i f(x_i . beta + b, y_i) + lambda_0 ||beta||_0 + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2``, with at
    most ``k`` features if that is given. Of more than two classes, each has a row of coefficients, see ``multi_class``.

    Parameters
    ----------
    loss : {"logistic", "squared_hinge", "hinge", "squared_error"}
    k : int, optional
        The largest number of features, not counting unpenalized ones (of each class, with ``multi_class="ovr"``).
    budget : float, optional
        The largest sum of ``feature_cost`` over the features of the model, in the place of ``k``.
    lambda_0 : float, optional
        What a feature must improve the objective by. With none of ``k``, ``budget`` and ``lambda_0``, ``criterion`` chooses the
        size.
    lambda_1, lambda_2 : float
        Weights of the l1 norm and of the squared l2 norm, of the standardised coefficients with ``standardize``.
    algorithm : {"local_search", "cd", "iht", "exact"}
        As in :func:`ellzero.fit_path`; "exact" proves how good the model is, see :func:`ellzero.solve`.
    criterion : {"ebic", "gic", "bic", "aic"}
        Chooses the size if none of ``k``, ``budget`` and ``lambda_0`` is given; see the user guide.
    n_candidates : int, optional
        From how many columns those of X were chosen before, for example by a screening with y: "ebic" and "gic" count all of
        them, so that chance findings among them stay out. By default the columns of X.
    max_support : int, optional
        The largest size that the criterion looks at; 50 by default. There is a warning if the chosen model is that large.
    multi_class : {"auto", "multinomial", "ovr_shared", "ovr"}
        How more than two classes are learnt. "multinomial" (for the logistic loss): one softmax model on shared features, of
        which each is counted once. "ovr_shared": each class against the rest, on shared features. "ovr": each class against
        the rest, with features of its own; ``k`` and ``budget`` are those of each class. "auto" is "multinomial" for the
        logistic loss and "ovr_shared" for the others.
    probability : bool
        Gives the other losses than the logistic one `predict_proba`, by Platt scaling on five held-out folds. As with other
        calibrated scores, the most probable class need not be the predicted one.
    class_weight : dict, "balanced" or None
        Factors of the rows' weights by class; "balanced" gives all classes the same total weight. Probabilities follow these
        weights, too.
    pos_label : label, optional
        With two classes: the one that is meant by "positive". Tables, summaries, reports and, in cross-validation, scorers such
        as "f1" are about it. `classes_` is in sorted order all the same, and `coef_` and `decision_function` are about the
        second one, as scikit-learn needs it.
    fit_intercept : bool
    standardize : bool
        Columns are centred and scaled on the fly, and the penalties apply to the standardised coefficients. `coef_` is always
        on the scale of X.
    lower, upper : number or (p,), optional
        Bounds on the coefficients.
    unpenalized : mask, indices or column names, optional
        Features that are always in the model.
    feature_cost : (p,) numbers, or a mapping or Series from columns to numbers, optional
        What each feature costs: it pays ``lambda_0 * feature_cost[j]``. Zero is ``unpenalized``; see :func:`ellzero.fit_path`.
    groups : p labels, a mapping from names to columns, or "auto", optional
        Columns that come into the model together, such as the indicators of a categorical variable; ``k`` counts groups. "auto"
        finds the columns of a ``OneHotEncoder`` by their names and values; see :func:`ellzero.fit_path`.
    rules : list of rules, optional
        Which features may, or must, be in the model together, see :func:`ellzero.fit_path`. With ``multi_class="ovr"`` they are
        about the features of each class.
    feature_names : p names, optional
        For an X without names, such as those of a ``CountVectorizer``; tables, plots and model files show them.
    bound, gap, time_limit :
        Of ``algorithm="exact"``, as in :func:`ellzero.solve`.
    within : float, optional
        Of ``algorithm="exact"``: all models whose objective is at most this share above the best one are found, too, as in
        :func:`ellzero.alternatives`, in as much time again.
    tol : float
        Relative tolerance on the objective.
    n_jobs : int, optional
        Threads.
    random_state : int
        Seed of the folds of ``probability``.
    progress : bool or function, optional
        As in :func:`ellzero.fit_path`.

    Attributes
    ----------
    classes_ : (classes,) the labels
    multi_class_ : how more than two classes were learnt; None with two
    coef_ : (1, p), or (classes, p) with more than two classes; see `sparsify`
    intercept_ : (1,) or (classes,)
    support_ : indices of the features that the model uses
    spent_ : the sum of the costs of these features: their number, without ``feature_cost``
    groups_ : of ``groups``: the name of each column's group
    path_ : Path or, with ``k``, Sizes, or Budgets with ``budget``: the models that were found on the way
    objective_ : what was minimised
    cautions_ : sentences on how far the data carries the model, which were warnings of `fit`, too
    criterion_ : value of the criterion, if it chose
    solution_, certificate_ : of ``algorithm="exact"``: an ExactSolution and its proof
    alternatives_ : of ``within``: the models that are nearly as good
    n_iter_ : how many models the path has, or how many nodes were searched
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    With ``multi_class="ovr"`` and more than two classes `path_`, `objective_`, `solution_`, `certificate_` and `alternatives_`
    are lists with one entry for each class; the certificate of class c is verified with ``y == classes_[c]`` as the target.
    Classes that share their features are one problem. The certificate of a multinomial model is verified with y, that of an
    "ovr_shared" model with ``y[:, None] == classes_``.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(300, 100, 3, s=3.0, random_state=0)
    >>> model = ez.L0Classifier(k=3).fit(X, y)
    >>> model.support_.tolist() == truth.nonzero()[0].tolist()
    True
    >>> ez.L0Classifier().fit(X, y).support_.tolist()  # the size is chosen by the extended BIC
    [0, 33, 66]

    """

    loss: str = "logistic"


@dataclass(eq=False, repr=False)
class L0Regressor(SingleFit, L0RegressorBase, FitArguments, SingleFitArguments, NumberArguments):
    """A linear regression that uses few features.

    Minimises half the mean squared error plus ``lambda_0 ||beta||_0 + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2``, with at
    most ``k`` features if that is given. Several targets share their features, and their errors are added up.

    Parameters
    ----------
    loss : {"squared_error", "huber"}
        "huber" is for data with outliers: residuals beyond ``huber_delta`` count by their size, not by their square.
    huber_delta : float
        In the units of y: about 1.35 times the usual size of the errors that are not outliers.
    k, budget, lambda_0, lambda_1, lambda_2, algorithm, criterion, n_candidates, max_support, fit_intercept, standardize, lower,
    upper, unpenalized, feature_cost, groups, rules, feature_names, bound, gap, time_limit, within, tol, n_jobs,
    progress :
        As in :class:`ellzero.L0Classifier`.

    Attributes
    ----------
    coef_ : (p,), or (targets, p) if y has several columns
    intercept_ : float, or (targets,)
    support_, spent_, path_, objective_, criterion_, solution_, certificate_, alternatives_, n_iter_, n_features_in_,
    feature_names_in_ :
        As in :class:`ellzero.L0Classifier`.

    Examples
    --------
    >>> import numpy as np
    >>> import ellzero as ez
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 50))
    >>> y = X[:, 3] - 2.0 * X[:, 7] + 0.1 * rng.standard_normal(100)
    >>> ez.L0Regressor().fit(X, y).support_.tolist()
    [3, 7]
    >>> both = ez.L0Regressor(k=3).fit(X, np.column_stack([y, X[:, 9] - y]))
    >>> both.support_.tolist(), both.coef_.shape
    ([3, 7, 9], (2, 50))

    """
