"""Estimators: what they learn is what they say, files and pickles predict the same, a failed fit changes nothing."""

from __future__ import annotations

import copy
import pickle
import tempfile
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import ellzero as ez
from fuzz.problems.problem import Problem
from fuzz.problems.storages import as_frame, draw_storage, fitting, stored
from fuzz.records import Case, Record, skeleton
from fuzz.subjects.judging import Referee, check_bound, check_model

__all__ = ["CV_CALLS", "ESTIMATOR_CALLS", "draw_cv", "draw_estimator", "judge_cv", "judge_estimator"]

Generator = np.random.Generator
ESTIMATOR_CALLS = """
weight = settings.pop("sample_weight", None)
loss = settings.pop("loss")
Estimator = ez.L0Regressor if loss == "squared_error" else lambda **chosen: ez.L0Classifier(loss, **chosen)
model = Estimator(**{"lambda_2": 0.0, "standardize": False, **settings, **form, **options["own"]}).fit(Z, y, weight)
print(model.coef_, model.intercept_, model.objective_)
"""
CV_CALLS = """
weight = settings.pop("sample_weight", None)
loss = settings.pop("loss")
Estimator = ez.L0RegressorCV if loss == "squared_error" else lambda **chosen: ez.L0ClassifierCV(loss=loss, **chosen)
model = Estimator(**{"standardize": False, **settings, **options["own"]}).fit(Z, y, weight)
print(model.coef_, model.intercept_, model.best_score_)
"""


def draw_estimator(rng: Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return a problem and the options of an estimator."""
    problem, storage = fitting(problem, draw_storage(rng))
    own: dict[str, Any] = {"algorithm": str(rng.choice(["local_search", "cd", "iht", "exact"], p=[0.4, 0.2, 0.1, 0.3]))}
    if rng.random() < 0.3:
        problem = replace(problem, lambda_0=None, k=None, budget=None)  # the size is chosen by a criterion
        own["criterion"] = str(rng.choice(["ebic", "bic", "aic"]))
    if own["algorithm"] != "exact":
        problem = replace(problem, bound=None)
    if problem.is_classification and rng.random() < 0.15:
        own["probability"] = True
    if problem.is_classification and rng.random() < 0.1:
        own["class_weight"] = "balanced"
    return problem, {"storage": storage, "chunk": int(rng.integers(1, 5)), "own": own}


def make(problem: Problem, own: dict[str, Any], classifier: Any, regressor: Any, **plain: Any) -> Any:
    """Return an estimator for a problem."""
    settings = problem.settings()
    settings.pop("sample_weight", None)
    loss = {"loss": settings.pop("loss")}
    chosen = {"standardize": False, **plain, **settings, **own}
    return classifier(**loss, **chosen) if problem.is_classification else regressor(**chosen)


def judge_estimator(case: Case, record: Record) -> None:
    """Fit an estimator, check the model, its file, its pickle and what a failed fit leaves."""
    problem, own = case.problem, case.options["own"]
    estimator = make(problem, {**problem.form(), **own}, ez.L0Classifier, ez.L0Regressor, lambda_2=0.0)
    with stored(problem.X, case.options["storage"], case.options["chunk"]) as X:
        if not fitted(record, estimator, X, problem):
            return
        check_copies(record, estimator, problem)
    coef, intercept = np.ravel(estimator.coef_), float(np.ravel(estimator.intercept_)[0])
    weighted = own.get("class_weight") is None
    judged = replace(problem, lambda_0=problem.lambda_0 or 0.0)
    if problem.standardize and not weighted:  # class weights change the spreads, on whose scale the bound is
        judged = replace(judged, bound=None)
    if own["algorithm"] == "exact" and weighted and hasattr(estimator, "solution_"):
        solution = estimator.solution_
        claim = solution.certificate.claim
        judged = replace(judged, free_bound=claim.free_bound)
        chosen = problem.k is None and problem.lambda_0 is None and problem.budget is None
        referee = Referee(replace(judged, lambda_0=claim.lambda_0, k=claim.k, budget=claim.budget) if chosen else judged)
        referee.show(coef, intercept)
        check_bound(record, referee, f"solution_ ({solution.status}), lower_bound", solution.lower_bound)
        record.count(f"status {solution.status}")
    criterion = problem.k is None and problem.lambda_0 is None and problem.budget is None
    objective = float(estimator.objective_) if weighted and not criterion else None
    check_model(record, Referee(judged), "estimator", coef, intercept, objective)
    check_failed_fit(record, estimator, problem)


def fitted(record: Record, estimator: Any, X: Any, problem: Problem) -> bool:
    """Fit an estimator; return False if scikit-learn's own checks refuse the data."""
    try:
        estimator.fit(X, problem.y, problem.sample_weight)
    except ez.InvalidInputError:
        raise
    except ValueError as error:
        where = traceback.extract_tb(error.__traceback__)[-1].filename
        if "sklearn" not in where:
            raise
        record.count(f"refused by scikit-learn: {skeleton(str(error))}")
        return False
    return True


def check_copies(record: Record, estimator: Any, problem: Problem) -> None:
    """Check that a file, a pickle and a copy predict the same, and that a clone is not fitted."""
    X = problem.X if not hasattr(estimator, "feature_names_in_") else as_frame(problem.X)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / "model.json"
        estimator.save(path)
        loaded = ez.load(path)
    for what, other in (
        ("file", loaded),
        ("pickle", pickle.loads(pickle.dumps(estimator))),
        ("copy", copy.deepcopy(estimator)),
    ):
        if not np.array_equal(estimator.predict(X), other.predict(X), equal_nan=not problem.is_classification):
            record.find(f"{what} predicts differently", "high", f"{estimator.predict(X)} and {other.predict(X)}")
        if problem.is_classification and not np.array_equal(estimator.decision_function(X), other.decision_function(X)):
            record.find(f"{what} decides differently", "high", f"{estimator.decision_function(X)}")
    if hasattr(clone(estimator), "coef_"):
        record.find("clone is fitted", "high", "")


def check_failed_fit(record: Record, estimator: Any, problem: Problem) -> None:
    """Check that a fit that fails leaves the estimator as it was."""
    X = problem.X if not hasattr(estimator, "feature_names_in_") else as_frame(problem.X)
    before = estimator.predict(X)
    broken = problem.X.astype(np.float64)
    broken[0, 0] = np.nan
    labels = np.where(np.arange(len(problem.y)) % 2, "odd", "even") if problem.is_classification else problem.y + 1.0
    try:
        estimator.fit(broken, labels)
    except ValueError:
        after = estimator.predict(X)
        if not np.array_equal(before, after, equal_nan=not problem.is_classification):
            record.find("a failed fit changes the model", "high", f"{before.tolist()} and {after.tolist()}")
        return
    record.find("NaN is accepted", "high", "fit took an X with NaN")


def draw_cv(rng: Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return a problem and the options of cross-validation."""
    problem, storage = fitting(problem, draw_storage(rng))
    own: dict[str, Any] = {"cv": int(rng.integers(2, 4)), "n_lambda": int(rng.integers(1, 6)), "penalty": "l0"}
    own["algorithm"] = str(rng.choice(["cd", "local_search"]))
    if rng.random() < 0.6:
        own |= {"penalty": str(rng.choice(["l0l1", "l0l2"])), "n_shrinkage": int(rng.integers(1, 4))}
    if rng.random() < 0.3:
        own["select"] = "size"
    if rng.random() < 0.3:
        own["rule"] = str(rng.choice(["best", "one_se", "sparse"]))
    if rng.random() < 0.3 and "select" not in own:  # nothing set: models without lambda_0, too
        own = {"cv": own["cv"]} | {name: own[name] for name in ("rule",) if name in own}
    own["max_support"] = int(rng.integers(1, 5))
    return replace(problem, lambda_0=None, k=None, bound=None, lambda_1=0.0, lambda_2=0.0), {
        "storage": storage,
        "chunk": int(rng.integers(1, 5)),
        "own": own,
    }


def judge_cv(case: Case, record: Record) -> None:
    """Cross-validate, and check the chosen model and its copies."""
    problem = case.problem
    estimator = make(problem, case.options["own"], ez.L0ClassifierCV, ez.L0RegressorCV)
    with stored(problem.X, case.options["storage"], case.options["chunk"]) as X:
        if not fitted(record, estimator, X, problem):
            return
        check_copies(record, estimator, problem)
    coef, intercept = np.ravel(estimator.coef_), float(np.ravel(estimator.intercept_)[0])
    referee = Referee(replace(problem, lambda_1=estimator.lambda_1_, lambda_2=estimator.lambda_2_, lambda_0=0.0))
    if estimator.choice_.model.lasso is None:  # a refit of other models' features solves no problem of all columns
        check_model(record, referee, "chosen model", coef, intercept, None)
    if not np.isfinite(estimator.best_score_):
        record.find("score not finite", "medium", f"{estimator.best_score_!r}")
