"""Information criteria, which choose the size of a model without cross-validation."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

__all__ = ["CRITERIA", "information_criterion"]

CRITERIA = ("aic", "bic", "ebic")
SMALLEST_SHARE = 1e-12  # least residual variance, as a share of that of y: a perfect fit has a finite criterion, too


def information_criterion(name: str, problem: Problem, model: Model, rows: float) -> float:
    """Return AIC, BIC or extended BIC (with gamma = 1) of a model; smaller is better.

    ``rows`` is the number of rows, repetitions by sample weights included. The deviance is twice the loss summed over rows (for
    the logistic loss minus twice the log-likelihood; hinge losses take its place as they do in the information criteria for
    support vector machines), or n log(residual variance) for the squared error, of each target. AIC adds 2 for each
    coefficient, BIC log n, and extended BIC also 2 log of the number of models of the same size, which keeps chance findings
    out when p is large. Of several outputs, a column has a coefficient for each; of a multinomial model for each but one, since
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
    value = deviance + float(np.log(max(rows, 1.0))) * coefficients
    if name == "ebic":
        p, size = problem.countable(), problem.counted(model.support)
        value += 2.0 * float(gammaln(p + 1.0) - gammaln(size + 1.0) - gammaln(p - size + 1.0))
    return value


def deviance_of_numbers(problem: Problem, model: Model) -> float:
    """Return the sum over targets of the logarithm of twice the mean loss: the residual variance, for the squared error."""
    residual = 2.0 * problem.w @ problem.loss.value(*problem.fitted(*model.coefficients))
    variance = [2.0 * problem.loss.null_value(each, problem.w, fit_intercept=True) for each in problem.y.T]
    return float(np.log(np.maximum(residual, np.maximum(SMALLEST_SHARE * np.array(variance), np.finfo(float).tiny))).sum())
