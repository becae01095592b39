"""Sparse linear classifiers by L0 regularisation; this root gathers the public names, from every room up to `estimators`.

>>> import ellzero as ez
>>> X, y, truth = ez.datasets.make_classification(200, 1000, 3, s=3.0, random_state=0)
>>> ez.fit_path(X, y, max_support=5).at_support(3).support.tolist()
[0, 333, 666]
"""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ellzero import datasets, metrics
from ellzero.base.errors import ClusterError, DatasetError, EllzeroError, FragileModelWarning, InvalidInputError
from ellzero.base.imports import import_whole
from ellzero.design.column_store import ColumnStore, open_columns
from ellzero.design.device_array import DeviceStore, to_device
from ellzero.exact.alternative_models import Alternatives
from ellzero.exact.alternatives import alternatives
from ellzero.exact.certificate import Certificate
from ellzero.exact.solution import ExactSolution
from ellzero.exact.solve import solve
from ellzero.exact.swaps import improve
from ellzero.exact.verifier import VerificationReport, verify
from ellzero.paths.budgets import Budgets, fit_budgets
from ellzero.paths.certified import CertifiedPath, certify_path
from ellzero.paths.fitting import fit_path, lambda_grid
from ellzero.paths.grid import PathGrid, fit_grid
from ellzero.paths.path import Path
from ellzero.paths.sizes import Sizes, fit_sizes
from ellzero.plots.groups import plot_groups
from ellzero.problem.model import Model
from ellzero.problem.objective import objective
from ellzero.problem.stationarity import StationarityReport, check_stationarity
from ellzero.tables.bins import bins

if TYPE_CHECKING:
    from ellzero.conversion import ColumnWriter, SparseColumnWriter, convert
    from ellzero.estimators.choice import Choice
    from ellzero.estimators.cross_validated import L0ClassifierCV, L0RegressorCV
    from ellzero.estimators.cross_validation import CrossValidation
    from ellzero.estimators.inference import Inference, inference
    from ellzero.estimators.model_file import load
    from ellzero.estimators.selector import L0Selector
    from ellzero.estimators.single_fit import L0Classifier, L0Regressor
    from ellzero.estimators.stability import Stability, stability_selection

__version__ = version("ellzero")

# Names that need scikit-learn or write column stores are imported when they are first used, so that `import ellzero` stays
# quick for those who only fit paths.
LATER = {
    "ColumnWriter": "conversion",
    "SparseColumnWriter": "conversion",
    "convert": "conversion",
    "Choice": "estimators.choice",
    "CrossValidation": "estimators.cross_validation",
    "Inference": "estimators.inference",
    "L0Classifier": "estimators.single_fit",
    "L0ClassifierCV": "estimators.cross_validated",
    "L0Regressor": "estimators.single_fit",
    "L0RegressorCV": "estimators.cross_validated",
    "L0Selector": "estimators.selector",
    "Stability": "estimators.stability",
    "inference": "estimators.inference",
    "load": "estimators.model_file",
    "stability_selection": "estimators.stability",
}


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module 'ellzero' has no attribute {name!r}")
    return getattr(import_whole(f"ellzero.{LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *LATER})


__all__ = [
    "Alternatives",
    "Budgets",
    "Certificate",
    "CertifiedPath",
    "Choice",
    "ClusterError",
    "ColumnStore",
    "ColumnWriter",
    "CrossValidation",
    "DatasetError",
    "DeviceStore",
    "EllzeroError",
    "ExactSolution",
    "FragileModelWarning",
    "Inference",
    "InvalidInputError",
    "L0Classifier",
    "L0ClassifierCV",
    "L0Regressor",
    "L0RegressorCV",
    "L0Selector",
    "Model",
    "Path",
    "PathGrid",
    "Sizes",
    "SparseColumnWriter",
    "Stability",
    "StationarityReport",
    "VerificationReport",
    "alternatives",
    "bins",
    "certify_path",
    "check_stationarity",
    "convert",
    "datasets",
    "fit_budgets",
    "fit_grid",
    "fit_path",
    "fit_sizes",
    "improve",
    "inference",
    "lambda_grid",
    "load",
    "metrics",
    "objective",
    "open_columns",
    "plot_groups",
    "solve",
    "stability_selection",
    "to_device",
    "verify",
]
