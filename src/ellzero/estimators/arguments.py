"""The arguments of the estimators with their defaults, each once.

Dataclasses make the constructors of them, which scikit-learn, type checkers and editors read. A constructor lists the arguments
of the last base first. The docstrings of :class:`ellzero.L0Classifier` and :class:`ellzero.L0ClassifierCV` describe them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ellzero.problem.losses import HUBER_DELTA


@dataclass(kw_only=True, eq=False, repr=False)
class SizeArguments:
    """How large the model is."""

    k: int | None = None
    lambda_0: float | None = None
    lambda_1: float = 0.0
    lambda_2: float = 1e-3
    algorithm: str = "local_search"
    criterion: str = "ebic"
    n_candidates: int | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class SingleFitArguments(SizeArguments):
    """What estimators without cross-validation take besides."""

    budget: float | None = None
    within: float | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class ComparisonArguments:
    """Which models cross-validation compares, and how it chooses among them."""

    penalty: str = "auto"
    lambda_0: Any = None
    n_lambda: int | None = None
    lambda_min_ratio: float = 1e-3
    shrinkage: Any = None
    n_shrinkage: int | None = None
    cv: Any = 5
    scoring: Any = None
    select: str = "lambda_0"
    rule: str = "auto"
    algorithm: str = "cd"
    keep_predictions: bool = False
    random_state: Any = 0


@dataclass(kw_only=True, eq=False, repr=False)
class ClassArguments:
    """How labels are learnt."""

    multi_class: str = "auto"
    probability: bool = False
    class_weight: Any = None
    pos_label: Any = None
    random_state: Any = 0


@dataclass(kw_only=True, eq=False, repr=False)
class NumberArguments:
    """How numbers are learnt."""

    loss: str = "squared_error"
    huber_delta: float = HUBER_DELTA


@dataclass(kw_only=True, eq=False, repr=False)
class ProblemArguments:
    """What a model may look like."""

    max_support: int | None = None
    fit_intercept: bool = True
    standardize: bool = True
    lower: Any = None
    upper: Any = None
    unpenalized: Any = None
    feature_cost: Any = None
    groups: Any = None
    rules: Any = None
    tol: float = 1e-6
    n_jobs: int | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class FitArguments(ProblemArguments):
    """What classifiers and regressors take besides."""

    feature_names: Any = None
    bound: Any = None
    gap: float = 1e-4
    time_limit: float | None = None
    progress: Any = None
