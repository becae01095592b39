"""Estimators that choose their penalties, or their size, by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import as_progress
from ellzero.base.validation import as_choice, as_count, as_flag, as_grid, if_given
from ellzero.estimators.arguments import ClassArguments, ComparisonArguments, FitArguments, NumberArguments
from ellzero.estimators.base import L0Estimator
from ellzero.estimators.choice_rules import (
    BESIDE_OTHERS,
    FEWEST_FEATURES,
    FEWEST_POINTS,
    LASSO_GRID,
    LASSO_LADDER,
    MOST_OF_NETS,
    NETS,
    REFITS,
    RIDGE_LADDER,
    largest_by_rows,
    largest_lasso,
    ridge_values,
    shrinkage_values,
)
from ellzero.estimators.comparison import Comparison, ComparisonPlan, Steps
from ellzero.estimators.model_choice import FoundModels, ModelChoice
from ellzero.estimators.resampling import make_splits
from ellzero.estimators.scoring import HeldOutScore, accepts_weights, as_scorer, scorer_name
from ellzero.estimators.targets import L0ClassifierBase, L0RegressorBase
from ellzero.estimators.training import Training, warn_at_limit
from ellzero.paths.sizes import Sizes
from ellzero.solvers.paths import PathOptions

Array = NDArray[np.float64]
PENALTIES = ("auto", "l0", "l0l1", "l0l2")


class CrossValidatedFit(L0Estimator):
    """The `fit` of estimators with cross-validation."""

    def fit(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any) -> Any:
        """Choose the penalties by cross-validation, and learn the model from all rows.

        Parameters
        ----------
        X : (n, p) array, data frame, sparse matrix, column store or Dask array
        y : (n,) labels or, for a regression, numbers, (n,) or (n, targets)
        sample_weight : (n,), optional
            Not negative; used in fits and in scores.
        **params : dict
            ``groups`` for splitters that use them; with scikit-learn's metadata routing, whatever splitter and scorer request.

        Returns
        -------
        self

        """
        return self._fit_whole(X, y, sample_weight, params)

    def _learn(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None, params: dict[str, Any]) -> None:
        """Set the results of a fit."""
        self._check_settings()
        scorer = as_scorer(self.scoring)
        routed = self._routed(scorer, sample_weight, params)
        training = self._prepare(X, y, sample_weight)
        labels = np.asarray(y)
        labels = labels.ravel() if labels.size == len(labels) else labels
        splits = make_splits(self.cv, training, labels, self.random_state, **routed.splitter.split)
        name = self.scoring if isinstance(self.scoring, str) else ""
        score = HeldOutScore(training, scorer, labels, routed.scorer.score, name, getattr(self, "pos_label", None))
        by_size, self._least = self.select == "size", training.problem.least_size()
        largest = FEWEST_FEATURES if by_size else largest_by_rows(int(np.count_nonzero(training.problem.w)))
        largest = min(largest if self.max_support is None else self.max_support, training.problem.penalty.countable())
        n_lambda = if_given(as_count, "n_lambda", self.n_lambda, 1) or max(FEWEST_POINTS, 2 * largest)
        options = self._path_options(n_lambda=n_lambda, lambda_min_ratio=self.lambda_min_ratio)
        steps = Steps(as_progress(self.progress, "cross-validation"))
        plan = self._plan(training, options, largest)
        comparison = Comparison(training, plan, splits, score, options, self.n_jobs, steps)
        fitted = comparison.run()
        results = comparison.choose(fitted)
        column, point = results.best
        fits = fitted[column].fits
        model, part = results.choice.model, fits.training_at(point)
        sizes = (max(point, self._least),) * len(part.targets)
        choice = ModelChoice(sizes) if by_size else ModelChoice(lambda_0=model.lambda_0 or 0.0, largest=largest)
        searched = fits.searched
        if fits.lasso is not None:
            choice = ModelChoice(lasso=(float(fits.lasso[point]), plan.nets[0] if fits.refitted else model.lambda_2))
            own = zip(part.problems, fits.models[point], strict=True)
            searched = [Sizes(np.array([each.size]), [each], problem, None) for problem, each in own]
        found = FoundModels(part, choice, fits.models[point], searched)
        if fits.lasso is None or self.max_support is not None:
            warn_at_limit(found.models, largest, training.problem)
        self.cv_results_, self.choice_ = results, results.choice
        self.lambda_0_, self.lambda_1_, self.lambda_2_ = model.lambda_0, model.lambda_1, model.lambda_2
        self.best_score_ = model.score
        self._set_results(found, labels)
        self.k_ = training.problem.penalty.counted(self.support_.astype(np.int32))

    def _check_settings(self) -> None:
        """Refuse settings that are not known or contradict each other, before any work is done."""
        for name, choices in (
            ("penalty", PENALTIES),
            ("select", ("lambda_0", "size")),
            ("rule", ("auto", "best", "one_se", "sparse")),
        ):
            as_choice(name, getattr(self, name), choices)
        if_given(as_count, "max_support", self.max_support, 0)
        if if_given(as_grid, "lambda_0", self.lambda_0) is not None and self.select == "size":
            raise InvalidInputError("lambda_0 is a grid for select='lambda_0', got select='size'.")

    def _plan(self, training: Training, options: PathOptions, largest: int) -> ComparisonPlan:
        """Return the models to compare, and the rule that chooses among them; the user's settings come before ours."""
        own_grid, by_price = self._given() & {"lambda_0", "n_lambda"}, self.select == "lambda_0"
        families = self._families(training)
        shrinkage = [
            pair for name in families if name != "lasso" for pair in self._shrinkage(training, options, name, len(families) > 2)
        ]
        nets = ridge_values(training.problems, NETS[self.penalty]) if "lasso" in families else np.empty(0)
        lasso = (largest_lasso(training.problems, options) if len(nets) else 0.0) * LASSO_GRID
        countable, rows = training.problem.penalty.countable(), int(np.count_nonzero(training.problem.w))
        return ComparisonPlan(
            shrinkage=shrinkage,
            lambda_0=as_grid("lambda_0", self.lambda_0) if "lambda_0" in own_grid else np.empty(0),
            largest=largest,
            lasso=np.asarray(lasso[lasso > 0.0], dtype=np.float64),
            nets=tuple(nets.tolist()),
            refits=tuple(ridge_values(training.problems, REFITS).tolist()),
            most=min(countable, MOST_OF_NETS * rows) if self.max_support is None else largest,
            select=self.select,
            rule=self.rule,
            scoring=scorer_name(self.scoring),
            keep=as_flag("keep_predictions", self.keep_predictions),
            thin=by_price and not own_grid,
        )

    def _families(self, training: Training) -> list[str]:
        """Return the kinds of models to compare; without lambda_0 ("lasso") only where no setting is about lambda_0."""
        given = self._given() & {"lambda_0", "n_lambda", "shrinkage", "n_shrinkage", "feature_cost", "unpenalized", "rules"}
        free = self.select == "lambda_0" and self.algorithm != "exact" and not given
        if self.penalty != "auto":
            return [self.penalty] + ["lasso"] * (free and self.penalty == "l0l1")
        return ["l0l2", "l0l1", "lasso"] if free else ["l0l2"]

    def _shrinkage(self, training: Training, options: PathOptions, penalty: str, several: bool) -> list[tuple[float, float]]:
        """Return (lambda_1, lambda_2) of each column with lambda_0; fewer values if there are several families."""
        if penalty == "l0":
            if self.shrinkage is not None:
                raise InvalidInputError("shrinkage belongs to penalty='l0l1' and 'l0l2', got penalty='l0'.")
            return [(0.0, 0.0)]
        name = "lambda_1" if penalty == "l0l1" else "lambda_2"
        if self.shrinkage is None:
            count = if_given(as_count, "n_shrinkage", self.n_shrinkage, 1)
            multiples: tuple[float, ...] = LASSO_LADDER if penalty == "l0l1" else RIDGE_LADDER
            if several:
                multiples = BESIDE_OTHERS[penalty]
            values = shrinkage_values(training.problems, name, options, count or 0, multiples)
        else:
            values = as_grid("shrinkage", self.shrinkage)
        return [(float(value), 0.0) if name == "lambda_1" else (0.0, float(value)) for value in values]

    def _routed(self, scorer: Any, sample_weight: ArrayLike | None, params: dict[str, Any]) -> Any:
        """Return the arguments of the splitter and of the scorer, by scikit-learn's rules if its metadata routing is on."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            return Bunch(splitter=routed.splitter, scorer=routed.get("scorer", Bunch(score={})))
        unknown = [name for name in params if name != "groups"]
        if unknown:
            raise TypeError(f"fit got an unexpected argument {unknown[0]!r}; scikit-learn's metadata routing is not enabled.")
        weights = {"sample_weight": sample_weight} if sample_weight is not None and accepts_weights(scorer) else {}
        return Bunch(splitter=Bunch(split=params), scorer=Bunch(score=weights))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata goes to the splitter and which to the scorer, for scikit-learn.

        Returns
        -------
        MetadataRouter

        """
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        scorer = as_scorer(self.scoring)
        if scorer is not None:
            router.add(scorer=scorer, method_mapping=MethodMapping().add(caller="fit", callee="score"))
        return router


@dataclass(eq=False, repr=False)
class L0ClassifierCV(CrossValidatedFit, L0ClassifierBase, FitArguments, ClassArguments, ComparisonArguments):
    """A linear classifier with few features, its penalties or its size chosen by cross-validation.

    Parameters
    ----------
    loss : {"logistic", "squared_hinge", "hinge", "squared_error"}
    penalty : {"auto", "l0l2", "l0l1", "l0"}
        The models to compare. "l0l2", "l0l1": those of lambda_0 with several values of lambda_2 or lambda_1; "l0l1" goes down
        to lambda_0 = 0, which is plain l1. "auto": both with fewer values, elastic nets (lambda_0 = 0), and refits of the nets'
        features with lambda_2 alone. It is "l0l2" where a setting is about lambda_0: a grid, a cost of features or
        ``unpenalized``, ``select="size"``, ``algorithm="exact"``.
    lambda_0 : decreasing grid, optional
        By default that of a path of all rows (log-spaced with ``multi_class="ovr"`` and more than two classes).
    n_lambda : int, optional
        The grid has at most so many points. By default, those of a path whose models are a fifth larger than the one before.
    lambda_min_ratio : float
        The grid ends at this share of its first point.
    shrinkage : decreasing grid, optional
        Values of lambda_2 (or lambda_1).
    n_shrinkage : int, optional
        So many values over four decades instead.
    cv : int, splitter or iterable of (training rows, test rows)
        A number of folds means shuffled ones, stratified by class, with ``random_state`` as their seed.
    scoring : str or function, optional
        Any of scikit-learn's scorers; by default the held-out loss (its negative, so that greater is better).
    select : {"lambda_0", "size"}
        What models of different folds have in common: the penalty, or the number of features.
    rule : {"auto", "best", "one_se", "sparse"}
        "auto" and "sparse": the smallest model that is not clearly worse than the best one. Scores are compared row by row
        (fold by fold, if ``scoring`` is given): it is behind by at most two standard errors of the difference, and by 3 % of
        what the best gains on the model without features; with "sparse", 12 %. "one_se": the smallest
        within one standard error of the best score. "best": the best mean score.
    max_support : int, optional
        The largest size. By default models with lambda_0 have at most 50 features, with more than 150 rows a third of them, but
        at most 150; 50 with ``select="size"``; elastic nets two for each row. There is a warning if the chosen model is that
        large.
    algorithm : {"cd", "local_search", "iht", "exact"}
        Of all fits: coordinate descent is several times as fast, local search finds better models where features are
        correlated. "exact" searches the folds by local search, and solves the chosen problem with a proof.
    keep_predictions : bool
        Keep the held-out decision values of all models in ``cv_results_``.
    n_jobs : int, optional
        Folds and values of the second penalty that are computed at the same time, by joblib: Dask's and Ray's backends work.
    random_state : int
        Seed of the folds.
    progress : bool or function, optional
        As in :func:`ellzero.fit_path`.
    multi_class, probability, class_weight, pos_label, fit_intercept, standardize, lower, upper, unpenalized,
    feature_cost, groups, rules, feature_names, bound, gap, time_limit, tol :
        As in :class:`ellzero.L0Classifier`.

    Attributes
    ----------
    cv_results_ : CrossValidation: scores of all models; it plots itself
    choice_ : Choice: the chosen model, in ``choice_.why`` the reason in a sentence, and what other sizes give; it plots itself
    lambda_0_, lambda_1_, lambda_2_ : what was chosen; ``lambda_0_`` stays None with ``select="size"``
    k_ : number of features that the model uses and pays for, of all classes together
    best_score_ : mean held-out score of the chosen model
    classes_, multi_class_, coef_, intercept_, support_, path_, objective_, solution_, certificate_, n_iter_, n_features_in_,
    feature_names_in_ :
        As in :class:`ellzero.L0Classifier`.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(300, 100, 3, s=3.0, random_state=0)
    >>> model = ez.L0ClassifierCV(rule="sparse", n_jobs=2).fit(X, y)
    >>> model.support_.tolist() == truth.nonzero()[0].tolist()
    True
    >>> model.choice_.to_frame()["size"].tolist()[:4]
    [0, 1, 2, 3]

    """

    loss: str = "logistic"


@dataclass(eq=False, repr=False)
class L0RegressorCV(CrossValidatedFit, L0RegressorBase, FitArguments, ComparisonArguments, NumberArguments):
    """A linear regression with few features, its penalties or its size chosen by cross-validation.

    Parameters
    ----------
    loss, huber_delta :
        As in :class:`ellzero.L0Regressor`. Held-out losses are of this loss, too, unless ``scoring`` is given.
    penalty, lambda_0, n_lambda, lambda_min_ratio, shrinkage, n_shrinkage, cv, scoring, select, rule, max_support,
    algorithm, keep_predictions, fit_intercept, standardize, lower, upper, unpenalized, feature_cost, groups, rules,
    feature_names, bound, gap, time_limit, tol, n_jobs, random_state, progress :
        As in :class:`ellzero.L0ClassifierCV`; folds are shuffled.

    Attributes
    ----------
    coef_ : (p,), or (targets, p) if y has several columns
    intercept_ : float, or (targets,)
    cv_results_, choice_, k_, lambda_0_, lambda_1_, lambda_2_, best_score_, support_, path_, objective_, solution_,
    certificate_, n_iter_ :
        As in :class:`ellzero.L0ClassifierCV`.

    Examples
    --------
    >>> import numpy as np
    >>> import ellzero as ez
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 50))
    >>> y = X[:, 3] - 2.0 * X[:, 7] + 0.1 * rng.standard_normal(100)
    >>> ez.L0RegressorCV(rule="one_se").fit(X, y).support_.tolist()
    [3, 7]

    """
