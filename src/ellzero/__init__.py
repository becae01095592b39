"""Sparse linear classifiers by L0 regularisation; this root gathers the public names, from every room up to `estimators`.

>>> import ellzero as ez
>>> X, y, truth = ez.datasets.make_classification(200, 1000, 3, s=3.0, random_state=0)
>>> ez.fit_path(X, y, max_support=5).at_support(3).support.tolist()
[0, 333, 666]
"""

from typing import TYPE_CHECKING, Any

from ellzero.base.errors import ClusterError, DatasetError, EllzeroError, FragileModelWarning, InvalidInputError
from ellzero.base.imports import import_whole

if TYPE_CHECKING:
    from ellzero import datasets, metrics
    from ellzero.conversion import ColumnWriter, SparseColumnWriter, convert
    from ellzero.design.column_store import ColumnStore, open_columns
    from ellzero.design.device_array import DeviceStore, to_device
    from ellzero.estimators.choice import Choice
    from ellzero.estimators.cross_validated import L0ClassifierCV, L0RegressorCV
    from ellzero.estimators.cross_validation import CrossValidation
    from ellzero.estimators.inference import Inference, inference
    from ellzero.estimators.model_file import load
    from ellzero.estimators.onnx_export import to_onnx
    from ellzero.estimators.selector import L0Selector
    from ellzero.estimators.single_fit import L0Classifier, L0Regressor
    from ellzero.estimators.stability import Stability, stability_selection
    from ellzero.exact.alternative_models import Alternatives
    from ellzero.exact.alternatives import alternatives
    from ellzero.exact.binding import BindingRule
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
    from ellzero.problem.interactions import Interactions, interactions
    from ellzero.problem.model import Model
    from ellzero.problem.objective import objective
    from ellzero.problem.rules import Rule, at_least, at_most, exactly, requires, together
    from ellzero.problem.stationarity import StationarityReport, check_stationarity
    from ellzero.scores.risk_score import RiskScore
    from ellzero.scores.thresholds import Thresholds
    from ellzero.tables.bins import bins

    __version__: str

# The names above once more: a module is imported when one of its names is first used, so that `import ellzero` stays quick.
PLACES = {
    "conversion": ["ColumnWriter", "SparseColumnWriter", "convert"],
    "datasets": [],
    "design.column_store": ["ColumnStore", "open_columns"],
    "design.device_array": ["DeviceStore", "to_device"],
    "estimators.choice": ["Choice"],
    "estimators.cross_validated": ["L0ClassifierCV", "L0RegressorCV"],
    "estimators.cross_validation": ["CrossValidation"],
    "estimators.inference": ["Inference", "inference"],
    "estimators.model_file": ["load"],
    "estimators.onnx_export": ["to_onnx"],
    "estimators.selector": ["L0Selector"],
    "estimators.single_fit": ["L0Classifier", "L0Regressor"],
    "estimators.stability": ["Stability", "stability_selection"],
    "exact.alternative_models": ["Alternatives"],
    "exact.alternatives": ["alternatives"],
    "exact.binding": ["BindingRule"],
    "exact.certificate": ["Certificate"],
    "exact.solution": ["ExactSolution"],
    "exact.solve": ["solve"],
    "exact.swaps": ["improve"],
    "exact.verifier": ["VerificationReport", "verify"],
    "metrics": [],
    "paths.budgets": ["Budgets", "fit_budgets"],
    "paths.certified": ["CertifiedPath", "certify_path"],
    "paths.fitting": ["fit_path", "lambda_grid"],
    "paths.grid": ["PathGrid", "fit_grid"],
    "paths.path": ["Path"],
    "paths.sizes": ["Sizes", "fit_sizes"],
    "plots.groups": ["plot_groups"],
    "problem.interactions": ["Interactions", "interactions"],
    "problem.model": ["Model"],
    "problem.objective": ["objective"],
    "problem.rules": ["Rule", "at_least", "at_most", "exactly", "requires", "together"],
    "problem.stationarity": ["StationarityReport", "check_stationarity"],
    "scores.risk_score": ["RiskScore"],
    "scores.thresholds": ["Thresholds"],
    "tables.bins": ["bins"],
}
PLACE_OF = {name: place for place, names in PLACES.items() for name in names or [place]}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_whole("importlib.metadata").version("ellzero")
    if name not in PLACE_OF:
        raise AttributeError(f"module 'ellzero' has no attribute {name!r}")
    place = import_whole(f"ellzero.{PLACE_OF[name]}")
    # The next look finds the name here. A module is found here as soon as it is imported.
    found = globals()[name] = getattr(place, name) if PLACES[PLACE_OF[name]] else place
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *PLACE_OF, "__version__"})


__all__ = [
    "Alternatives",
    "BindingRule",
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
    "Interactions",
    "InvalidInputError",
    "L0Classifier",
    "L0ClassifierCV",
    "L0Regressor",
    "L0RegressorCV",
    "L0Selector",
    "Model",
    "Path",
    "PathGrid",
    "RiskScore",
    "Rule",
    "Sizes",
    "SparseColumnWriter",
    "Stability",
    "StationarityReport",
    "Thresholds",
    "VerificationReport",
    "alternatives",
    "at_least",
    "at_most",
    "bins",
    "certify_path",
    "check_stationarity",
    "convert",
    "datasets",
    "exactly",
    "fit_budgets",
    "fit_grid",
    "fit_path",
    "fit_sizes",
    "improve",
    "inference",
    "interactions",
    "lambda_grid",
    "load",
    "metrics",
    "objective",
    "open_columns",
    "plot_groups",
    "requires",
    "solve",
    "stability_selection",
    "to_device",
    "to_onnx",
    "together",
    "verify",
]
