"""The base class of all estimators: checks of the data, coefficients, predictions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.validation import check_is_fitted, validate_data

from ellzero.base.devices import at_hand
from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import progress_stream
from ellzero.base.quoting import shown
from ellzero.base.validation import (
    as_choice,
    as_flag,
    as_nonnegative,
    as_weights,
    if_given,
    known,
    refuse_masked,
    weight_of_rows,
)
from ellzero.design import Design, as_design, is_stored
from ellzero.estimators.cautions import warn_of_cautions
from ellzero.estimators.explanation import Explanation, explain_row
from ellzero.estimators.model_choice import FoundModels, ModelChoice, held_out_decision
from ellzero.estimators.model_content import write_model
from ellzero.estimators.resampling import Split, make_splits, run_tasks
from ellzero.estimators.showing import estimator_html, estimator_text, heading, linear_functions
from ellzero.estimators.stored_input import check_features, check_training_data, quoting_safely, read_columns
from ellzero.estimators.training import Training, refit
from ellzero.exact.alternatives import MOST_MODELS, collect
from ellzero.exact.binding import binding_rules
from ellzero.exact.options import SearchOptions, Wanted, search_options
from ellzero.exact.search import search_for
from ellzero.paths.options import path_options
from ellzero.problem.making import as_names, make_problem
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem
from ellzero.problem.summary import Summary
from ellzero.solvers.paths import PathOptions
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
ALGORITHMS = ("cd", "local_search", "iht", "exact")
CALIBRATION_FOLDS = 5
FINAL_TOLERANCE = 1e-13  # of the coefficients that the user keeps


class L0Estimator(BaseEstimator):
    """The base of all four estimators; subclasses code the target and choose the model."""

    coef_: Any  # an array or, after `sparsify`, a sparse matrix
    intercept_: Any
    probability: bool = False  # settings that not all estimators have
    within: float | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit_whole(self, X: Any, *data: Any) -> Any:
        """Learn into a copy that has no results yet, and take its state over in one step when all of it is there.

        So an error or Ctrl-C in the middle changes nothing: an estimator that was fitted before keeps its whole model.
        """
        fresh = object.__new__(type(self))
        learnt = vars(self).get("_learnt", frozenset())
        settings = {name: value for name, value in vars(self).items() if name not in learnt}
        fresh.__dict__.update(settings)
        fresh._learn(X, *(at_hand(part) for part in data))
        fresh._end_fit(settings)
        self.__dict__ = fresh.__dict__
        return self

    def _end_fit(self, settings: dict[str, Any]) -> None:
        """Note the settings of a fit, and the names of all that it learnt: the next fit does without these."""
        self._settings = settings
        self._learnt = frozenset({*vars(self), "_learnt"} - set(settings))

    def _feature_names(self) -> list[str] | None:
        """Return the names of the columns of the fit: their own, or those that the user gave them."""
        names = getattr(self, "feature_names_in_", self._as_fitted("feature_names"))
        return None if names is None else [str(name) for name in names]

    def _as_fitted(self, name: str) -> Any:
        """Return a setting as the model was fitted with it: the user may have changed it since."""
        return vars(self).get("_settings", {}).get(name, getattr(self, name, None))

    @property
    def _reversed(self) -> bool:
        """Whether the positive label is the first of two classes: what is printed speaks for it, `coef_` for the second."""
        return hasattr(self, "classes_") and bool(self._as_fitted("pos_label") == self.classes_[0])

    def _shown_classes(self) -> list[Any]:
        """Return the labels, the positive one of two as the second; none for a regression."""
        classes = self.classes_.tolist() if hasattr(self, "classes_") else []
        return classes[::-1] if self._reversed else classes

    def _given(self) -> set[str]:
        """Return the names of the settings that have a value."""
        return set(known(self.get_params(deep=False)))

    def _prepare(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Training:
        """Return the validated data as problems, and set `n_features_in_` and the like."""
        as_choice("algorithm", self.algorithm, ALGORITHMS)
        as_flag("probability", self.probability)
        refuse_masked("y", y)
        if self.algorithm == "exact":
            self._search_options()  # so that bad ones are refused before any work
        if if_given(as_nonnegative, "within", self.within) is not None and self.algorithm != "exact":
            raise InvalidInputError(f"within belongs to algorithm='exact', got algorithm={self.algorithm!r}.")
        design, target = self._data(X, y)
        n = design.shape[0]
        weight = weight_of_rows(sample_weight, n)
        as_weights(weight, len(weight))  # so that negative ones, or zeros only, are refused
        self._rows = float(weight.sum())  # number of rows: a weight of two counts as a row twice
        targets, classes, weight = self._encode(target, weight)
        problem = make_problem(
            design,
            targets[0],
            loss=self._loss,
            fit_intercept=self.fit_intercept,
            standardize=self.standardize,
            sample_weight=weight,
            lower=self.lower,
            upper=self.upper,
            unpenalized=self.unpenalized,
            feature_cost=self.feature_cost,
            groups=self.groups,
            rules=self.rules,
            n_jobs=self.n_jobs,
        )
        # Of one problem, the target is as the loss sees it.
        targets = [problem.y] if len(targets) == 1 else [y[:, None] for y in targets]
        return Training(problem, targets, classes)

    def _data(self, X: Any, y: ArrayLike) -> tuple[Design, NDArray[Any]]:
        """Return X and y after scikit-learn's checks; an X that is not in memory stays where it is."""
        given = None if self.feature_names is None else as_names(self.feature_names, X)
        if is_stored(X):
            design, y = check_training_data(self, X, y)
            return design if given is None or design.names is not None else as_design(X, given), y
        with quoting_safely(X):
            numeric = is_regressor(self)  # of which there may be several targets
            X, y = validate_data(self, X, y, accept_sparse="csc", dtype="numeric", y_numeric=numeric, multi_output=numeric)
        names = getattr(self, "feature_names_in_", None)
        return as_design(X, given if names is None else names.tolist()), np.asarray(y)

    def _path_options(self, **more: Any) -> PathOptions:
        """Return the options of paths and sizes; an exact search starts from the models of local search."""
        algorithm = "local_search" if self.algorithm == "exact" else self.algorithm
        return path_options(**{"algorithm": algorithm, "tol": self.tol, "progress": False} | more)

    def _search_options(self) -> SearchOptions:
        """Return the options of an exact search.

        A user's function for progress is not passed on: it takes the share of work that is done, which a search does not know.
        """
        progress_stream(self.progress)  # so that a bad one is refused
        shown = False if callable(self.progress) else self.progress
        return search_options(bound=self.bound, gap=self.gap, time_limit=self.time_limit, n_jobs=self.n_jobs, progress=shown)

    def _set_coefficients(self, models: list[Model]) -> None:
        """Set the coefficients of the chosen models."""
        self.coef_ = np.vstack([model.coef for model in models])
        self.intercept_ = np.hstack([model.intercept for model in models])
        self.support_ = np.flatnonzero((self.coef_ != 0.0).any(axis=0))
        self.objective_ = one_or_list([model.objective for model in models])
        self._spread = {int(j): float(s) for model in models for j, s in zip(model.support, model.spread, strict=True)}
        self._centre = {int(j): float(c) for model in models for j, c in zip(model.support, model.centre, strict=True)}
        (single, *several), self._statistics = [model.statistics for model in models], None
        if not several and single is not None:  # each of several problems has its own
            self._statistics = replace(single, rows=self._rows)

    def _set_results(self, best: FoundModels, y: NDArray[Any]) -> None:
        """Set the attributes of a fitted estimator; prove the models and calibrate probabilities where that is asked for."""
        problems = best.training.problems
        self.n_iter_ = sum(len(searched) for searched in best.searched)
        if self.algorithm == "exact":
            options = self._search_options()
            solutions = [search_for(*search).solve() for search in searches(best, best.models, options)]
            models = [solution.model for solution in solutions]
            self.n_iter_ = max(1, sum(solution.nodes for solution in solutions))
            self.solution_ = one_or_list(solutions)
            self.certificate_ = one_or_list([solution.certificate for solution in solutions])
            if self.within is not None:
                wanted = replace(options, gap=0.0, wanted=Wanted(all=True, within=self.within, most=MOST_MODELS))
                self.alternatives_ = one_or_list([collect(*search) for search in searches(best, models, wanted)])
        else:
            models = [self._polish(problem, model) for problem, model in zip(problems, best.models, strict=True)]
        price = best.choice.lambda_0
        models = [
            replace(model, objective=problem.objective(*model.coefficients, price))
            for problem, model in zip(problems, models, strict=True)
        ]
        self._set_coefficients(models)
        self.spent_ = best.training.problem.penalty.spent(self.support_.astype(np.int32))
        if (grouping := best.training.problem.grouping) is not None:
            self.groups_ = list(grouping.names)
        if best.training.problem.rules:
            paid = [binding_rules(*search[:2], *search[2]) for search in searches(best, models, search_options())]
            self.binding_rules_ = one_or_list(paid)
        # Level 6 is the user's code that calls `fit`.
        self.cautions_ = warn_of_cautions(problems, models, best.training.classes, 6)
        self.path_ = one_or_list(best.searched)
        if self.probability and not self._loss.has_probabilities:
            self._calibrate(best.training, self._held_out_decisions(best.training, best.choice, y))

    def _held_out_decisions(self, training: Training, choice: ModelChoice, y: NDArray[Any]) -> Array:
        """Return decision values of models that have not seen the row, of shape (n, outputs); nan for rows without weight."""
        splits = calibration_splits(training, y, self.random_state)
        options = self._path_options()
        tasks = [(training, choice, options, split, f"calibration fold {i + 1}") for i, split in enumerate(splits)]
        held_out = np.full((len(y), training.outputs), np.nan)
        for (_, test), values in zip(splits, run_tasks(held_out_decision, tasks, self.n_jobs), strict=True):
            held_out[test] = values
        return held_out

    def _polish(self, problem: Problem, model: Model) -> Model:
        """Return the model with coefficients to more digits: searches compare many models and stop at `tol`, users keep one."""
        columns = np.union1d(model.support, np.flatnonzero(problem.penalty.unpenalized)).astype(np.int32)
        precise = refit(problem, columns, self._path_options(n_jobs=self.n_jobs, tol=FINAL_TOLERANCE))
        return precise if precise.objective < problem.objective(*model.coefficients, 0.0) else model

    def _decision_values(self, X: Any) -> Array:
        """Return X coef + intercept, of shape (n, outputs); only the columns that the model uses are read."""
        check_is_fitted(self)
        stored = is_stored(X)
        if stored:
            X = as_design(X)
            check_features(self, X)
        else:
            with quoting_safely(X):
                X = validate_data(self, X, accept_sparse=["csr", "csc"], dtype="numeric", reset=False)
        if sparse.issparse(self.coef_):
            used = np.unique(self.coef_.indices).astype(np.int64)
            values = self.coef_[:, used].toarray().T
        else:
            coef = np.atleast_2d(self.coef_)
            used = np.flatnonzero((coef != 0.0).any(axis=0))
            values = np.ascontiguousarray(coef[:, used]).T
        part = read_columns(X, used) if stored else X[:, used]
        product = part @ values if sparse.issparse(part) else part.astype(np.float64) @ values
        return np.asarray(product) + np.atleast_1d(self.intercept_)

    def sparsify(self) -> L0Estimator:
        """Hold `coef_` as a scipy.sparse CSR matrix, which saves memory when there are many features.

        Returns
        -------
        self

        """
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> L0Estimator:
        """Hold `coef_` as a NumPy array again.

        Returns
        -------
        self

        """
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray().reshape(*np.shape(self.intercept_), self.n_features_in_)
        return self

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each coefficient, the largest effect first, and the intercept, as a pandas data frame.

        Its columns are ``class`` (with more than two classes; ``target``, with several targets), ``feature`` (the index, -1 for
        the intercept), ``name`` and ``coefficient``.

        Examples
        --------
        >>> import ellzero as ez
        >>> X, y, _ = ez.datasets.make_classification(200, 50, 2, s=3.0, random_state=0)
        >>> ez.L0Classifier(k=2).fit(X, y).to_frame()["name"].tolist()
        ['x25', 'x0', '(intercept)']

        """
        check_is_fitted(self)
        pandas = need("pandas", "frame")
        functions = linear_functions(self)
        frames = []
        for function in functions:
            frame = pandas.DataFrame(
                {
                    "feature": [*function.features.tolist(), -1],
                    "name": [*function.names, "(intercept)"],
                    "coefficient": [*function.coef, function.intercept],
                }
            )
            if len(functions) > 1:
                frame.insert(0, "class" if hasattr(self, "classes_") else "target", function.label)
            frames.append(frame)
        return pandas.concat(frames, ignore_index=True)

    def summary(self) -> Summary:
        """Return coefficients, effects of one standard deviation and odds ratios, with a word on what may be said of them.

        Returns
        -------
        Summary
            Prints itself, with n, log-likelihood, pseudo-R2, AIC and BIC; ``to_frame()`` has the coefficients. Standard
            deviations are those of the fit; a loaded model has none.

        """
        check_is_fitted(self)
        classes = self._shown_classes()
        about = f" of {shown(classes[1])} against {shown(classes[0])}" if len(classes) == 2 else ""
        kind, statistics = "class" if classes else "target", getattr(self, "_statistics", None)
        return Summary(heading(self, about), linear_functions(self), self._loss, kind, statistics)

    def explain(self, row: Any, reference: Any = None) -> Explanation:
        """Return what moves the prediction of one row: the contribution of each feature, as table and plot.

        A contribution is the coefficient times the difference between the row's value and the reference's. Columns of a
        group are summed.

        Parameters
        ----------
        row : array, mapping or Series of the features, or a table of one row
        reference : the same, optional
            The row to compare with; by default the means of the fit, which a model loaded from a file does not know.

        Returns
        -------
        Explanation
            Prints itself; ``to_frame()`` has the figures, ``plot()`` draws bars.

        Examples
        --------
        >>> import ellzero as ez
        >>> X, y, _ = ez.datasets.make_classification(200, 50, 2, s=3.0, random_state=0)
        >>> ez.L0Classifier(k=2).fit(X, y).explain(X[0]).to_frame()["name"].tolist()
        ['x25', 'x0']

        """
        check_is_fitted(self)
        return explain_row(self, row, reference)

    def __str__(self) -> str:
        return estimator_text(self) if hasattr(self, "coef_") else repr(self)

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + (estimator_html(self) if hasattr(self, "coef_") else "")

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if hasattr(self, "coef_") and "text/html" in bundle:
            bundle["text/html"] += estimator_html(self)
        return bundle

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to `path` as JSON; :func:`ellzero.load` reads it."""
        write_model(path, self)


def calibration_splits(training: Training, y: NDArray[Any], seed: Any) -> list[Split]:
    """Return five folds of the rows of positive weight, fewer where a class is rare."""
    rows = np.flatnonzero(training.problem.w)
    _, members = np.unique(y[rows], return_counts=True)
    if members.min() < 2:
        raise InvalidInputError("probability=True needs at least two rows of each class in y.")
    splits = make_splits(min(CALIBRATION_FOLDS, int(members.min())), training, y[rows], seed)
    return [(rows[train], rows[test]) for train, test in splits]


def searches(
    found: FoundModels, models: list[Model], options: SearchOptions
) -> Iterator[tuple[Problem, SearchOptions, list[Model]]]:
    """Yield an exact search for each problem: the problem, its options, and the model that it begins with."""
    choice = found.choice
    sizes = choice.k or (choice.largest,) * len(models)
    for problem, k, model in zip(found.training.problems, sizes, models, strict=True):
        yield problem, replace(options, lambda_0=choice.lambda_0, k=k, budget=choice.budget), [model]


def one_or_list(items: list[Any]) -> Any:
    """Return the item of the only problem, or the list if there are several."""
    return items[0] if len(items) == 1 else items
