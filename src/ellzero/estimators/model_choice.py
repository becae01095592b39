"""The model that a user wants, by its size, by the price of a feature or by an information criterion."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ellzero.base.errors import InvalidInputError
from ellzero.estimators.resampling import Split
from ellzero.estimators.training import Training, fit_lambda_grid, fit_lasso, parts
from ellzero.paths.budgets import Budgets, compute_budgets
from ellzero.paths.fitting import compute_path
from ellzero.paths.path import Path
from ellzero.paths.sizes import Sizes, compute_sizes
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import PathOptions

Array = NDArray[np.float64]


CRITERIA = ("aic", "bic", "ebic", "gic")
LEAST_ROWS = 3.0  # of fewer, log(log n) is negative
SMALLEST_SHARE = 1e-12  # least residual variance, as a share of that of y: a perfect fit has a finite criterion, too


@dataclass(frozen=True)
class ModelChoice:
    """The wanted models: of at most `k` features for each problem, or within a budget; each feature costs `lambda_0`."""

    k: tuple[int, ...] = ()  # empty: of any size, up to `largest`
    lambda_0: float = 0.0
    largest: int | None = None  # size of the largest model that is looked at; None for any size
    budget: float | None = None  # of the costs of each model's features
    lasso: tuple[float, float] | None = None  # lambda_1 and lambda_2 of the model without lambda_0 that has the features


@dataclass(frozen=True, eq=False)
class FoundModels:
    """A model for each problem, with what is needed to fit them again on other rows."""

    training: Training
    choice: ModelChoice
    models: list[Model]
    searched: list[Path | Sizes | Budgets]  # where they were found


def fit_chosen_models(
    training: Training, choice: ModelChoice, options: PathOptions
) -> tuple[list[Model], list[Path | Sizes | Budgets]]:
    """Fit the wanted model of each problem; return the models, and the paths or sizes that they were found on."""
    if choice.budget is not None:
        if options.algorithm == "iht":
            raise InvalidInputError("algorithm='iht' knows no budget; use 'local_search', 'cd' or 'exact'.")
        budget = np.array([choice.budget])
        found = [compute_budgets(problem, budget, part, choice.lambda_0) for problem, part in parts(training, options)]
        return [budgets.models[0] for budgets in found], list(found)
    if choice.lasso is not None:
        value, ridge = choice.lasso
        refits = [] if training.problem.penalty.lambda_1 else [training.problem.penalty.lambda_2]
        fits = fit_lasso(training.with_penalties(0.0, ridge), np.array([value]), refits, options)[-1]
        return fits.models[0], fits.searched
    if not choice.k:
        largest = training.problem.penalty.countable(choice.largest)
        fits = fit_lambda_grid(training, np.array([choice.lambda_0]), options, largest)
        return fits.models[0], fits.searched
    limits = [min(k, training.problem.penalty.countable()) for k in choice.k]
    training.problem.require_room("k", min(limits))
    by_size = [
        compute_sizes(problem, np.arange(training.problem.least_size(), k + 1), part)
        for (problem, part), k in zip(parts(training, options), limits, strict=True)
    ]
    return [min(sizes, key=lambda model: model.objective_at(choice.lambda_0)) for sizes in by_size], list(by_size)


def fit_by_criterion(
    training: Training, criterion: str, rows: float, largest: int, options: PathOptions, candidates: int | None = None
) -> tuple[list[Model], list[Path | Sizes | Budgets], list[float]]:
    """Return the models that an information criterion prefers, the paths or sizes they were found on, and its values."""
    problems = training.problems
    if len(problems) > 1 and problems[0].penalty.priced:
        raise InvalidInputError("feature_cost with multi_class='ovr' needs k, budget or lambda_0.")
    models, paths, best = list[Model](), list[Path | Sizes | Budgets](), list[float]()
    for problem, part in parts(training, options):
        path = compute_path(problem, replace(part, max_support=largest))
        sized = [path.sized[size] for size in sorted(path.sized) if size <= largest]
        if problem.penalty.priced and len(path):  # those that are the best for what they cost
            sized = list(path)
        rated = [information_criterion(criterion, problem, model, rows, candidates) for model in sized]
        models.append(sized[int(np.argmin(rated))])
        paths.append(path)
        best.append(min(rated))
    return models, paths, best


def held_out_decision(training: Training, choice: ModelChoice, options: PathOptions, split: Split, name: str) -> Array:
    """Fit models on the training rows, and return their decision values on the test rows, of shape (rows, outputs)."""
    train, test = split
    part = training.on_rows(train, name)
    models, _ = fit_chosen_models(part, choice, options)
    return part.decision([models], test)[:, 0]


def information_criterion(name: str, problem: Problem, model: Model, rows: float, candidates: int | None = None) -> float:
    """Return AIC, BIC, extended BIC (with gamma = 1) or GIC of a model; smaller is better.

    ``rows`` is the number of rows, repetitions by sample weights included. The deviance is twice the loss summed over rows (for
    the logistic loss minus twice the log-likelihood; hinge losses take its place as they do in the information criteria for
    support vector machines), or n log(residual variance) for the squared error, of each target. AIC adds 2 for each
    coefficient, BIC log n, and extended BIC also 2 log of the number of models of the same size, which keeps chance findings
    out when p is large. GIC (Fan and Tang's) adds log(log n) log p instead. `candidates` is p, if columns were left out before.
    Of several outputs, a column has a coefficient for each; of a multinomial model for each but one, since
    only the differences between classes matter.
    """
    if problem.loss.is_classification:
        deviance = 2.0 * rows * problem.mean_loss(*model.coefficients)
    else:
        deviance = rows * deviance_of_numbers(problem, model)
    outputs = problem.outputs - problem.is_multinomial
    coefficients = outputs * (len(model.support) + problem.fit_intercept)
    if name == "aic":
        return deviance + 2.0 * coefficients
    p = problem.penalty.countable() if candidates is None else candidates
    if name == "gic":
        return deviance + float(np.log(np.log(max(rows, LEAST_ROWS))) * np.log(max(p, 2))) * coefficients
    value = deviance + float(np.log(max(rows, 1.0))) * coefficients
    if name == "ebic":
        size = problem.penalty.counted(model.support)
        value += 2.0 * float(gammaln(p + 1.0) - gammaln(size + 1.0) - gammaln(p - size + 1.0))
    return value


def deviance_of_numbers(problem: Problem, model: Model) -> float:
    """Return the sum over targets of the logarithm of twice the mean loss: the residual variance, for the squared error."""
    residual = 2.0 * problem.w @ problem.loss.value(*problem.fitted(*model.coefficients))
    variance = [2.0 * problem.loss.null_value(each, problem.w, fit_intercept=True) for each in problem.y.T]
    return float(np.log(np.maximum(residual, np.maximum(SMALLEST_SHARE * np.array(variance), np.finfo(float).tiny))).sum())
