"""Problems for the exact solver: one that takes a moment, one that takes seconds, one that would take hours."""

import ellzero as ez
from support.problems import random_problem, target

X, RESPONSE, WEIGHT = random_problem(3, n=60, p=20)
Y = target(RESPONSE, "logistic")
EASY = {"lambda_0": 0.02, "lambda_2": 0.01}
# Some seconds with one thread.
LONG_SETTINGS = {"loss": "squared_hinge", "lambda_0": 0.03, "lambda_2": 0.05, "n_jobs": 1}
# Hours.
ENDLESS_SETTINGS = {"loss": "squared_hinge", "lambda_0": 0.003, "lambda_2": 0.001}


def long_problem():
    return ez.datasets.make_classification(150, 100, 6, s=1.0, random_state=0)[:2]


def endless_problem():
    return ez.datasets.make_classification(300, 200, 20, s=1.0, correlation="exponential", rho=0.7, random_state=0)[:2]
