"""Sparse linear classifiers by L0 regularisation.

>>> import ellzero as ez
>>> X, y, truth = ez.datasets.make_classification(200, 1000, 3, s=3.0, random_state=0)
>>> ez.fit_path(X, y, max_support=5).at_support(3).support.tolist()
[0, 333, 666]
"""

from importlib.metadata import version

from ellzero import datasets
from ellzero.errors import EllzeroError, InvalidInputError
from ellzero.exact.certificate import Certificate
from ellzero.exact.solution import ExactSolution
from ellzero.exact.solve import CertifiedPath, certify_path, solve
from ellzero.exact.swaps import improve
from ellzero.exact.verifier import VerificationReport, verify
from ellzero.grid import PathGrid, fit_grid
from ellzero.model import Model
from ellzero.path import Path, fit_path, lambda_grid
from ellzero.problem import objective
from ellzero.sizes import Sizes, fit_sizes
from ellzero.stationarity import StationarityReport, check_stationarity

__version__ = version("ellzero")

__all__ = [
    "Certificate",
    "CertifiedPath",
    "EllzeroError",
    "ExactSolution",
    "InvalidInputError",
    "Model",
    "Path",
    "PathGrid",
    "Sizes",
    "StationarityReport",
    "VerificationReport",
    "certify_path",
    "check_stationarity",
    "datasets",
    "fit_grid",
    "fit_path",
    "fit_sizes",
    "improve",
    "lambda_grid",
    "objective",
    "solve",
    "verify",
]
