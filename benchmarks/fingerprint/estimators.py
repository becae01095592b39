"""Estimators and stability selection, also on an X that is not in memory."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import ellzero as ez
from benchmarks.fingerprint.problems import ONE, RIDGE, Case, problem
from benchmarks.fingerprint.storages import SLOW, storages


def fitted(estimator: Any, X: Any, y: Any, **fit: Any) -> Any:
    """The fitted estimator, its predictions, its file, and the predictions of the estimator that is read from it."""
    estimator.fit(X, y, **fit)
    names = ("decision_function", "predict", "predict_proba")
    predictions = {name: getattr(estimator, name)(X) for name in names if hasattr(estimator, name)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        estimator.save(file)
        return estimator, predictions, json.loads(file.read_text()), ez.load(file).predict(X)


def estimator_cases() -> Iterator[Case]:
    X, y = problem("logistic", n=150)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    names = np.array(["no", "yes"])[(y + 1) // 2]
    three = np.digitize(X[:, 0] + 0.5 * X[:, 8], [-0.5, 0.5])
    classifiers: dict[str, tuple[dict[str, Any], Any]] = {
        "criterion": ({}, names),
        "bic": ({"criterion": "bic", "max_support": 12}, y),
        "aic": ({"criterion": "aic", "max_support": 30, "algorithm": "cd"}, y),
        "k": ({"k": 4}, y),
        "lambda_0": ({"lambda_0": 0.02, "lambda_1": 0.002}, y),
        "k and lambda_0": ({"k": 4, "lambda_0": 0.005}, y),
        "balanced": ({"k": 4, "class_weight": "balanced"}, y),
        "class_weight": ({"k": 4, "class_weight": {"yes": 2.0}}, names),
        "iht": ({"lambda_0": 0.02, "algorithm": "iht"}, y),
        "exact": ({"k": 3, "algorithm": "exact", "lambda_2": RIDGE}, y),
        "exact price": ({"lambda_0": 0.03, "algorithm": "exact", "lambda_2": RIDGE, "bound": "heuristic"}, y),
        "bounds": ({"k": 4, "lower": 0.0, "upper": 0.5, "unpenalized": [3]}, y),
        "probability": ({"loss": "hinge", "k": 4, "probability": True}, y),
        "multinomial": ({"k": 3, "multi_class": "multinomial"}, three),
        "three classes": ({"k": 3, "multi_class": "ovr"}, three),
        "shared support": ({"k": 3, "multi_class": "ovr_shared"}, three),
        "three classes, exact": ({"k": 2, "multi_class": "ovr", "algorithm": "exact", "lambda_2": RIDGE}, three),
    }
    for name, (settings, target) in classifiers.items():
        yield f"estimator/L0Classifier/{name}", partial(fitted, ez.L0Classifier(**settings, **ONE), X, target)
    yield "estimator/L0Classifier/weights", partial(fitted, ez.L0Classifier(k=4, **ONE), X, y, sample_weight=weight)
    short: dict[str, Any] = {"cv": 4, "n_lambda": 20, "max_support": 15, "random_state": 5, **ONE}
    validated: dict[str, tuple[dict[str, Any], Any]] = {
        "l0l2": ({}, y),
        "l0l1": ({"penalty": "l0l1"}, y),
        "l0": ({"penalty": "l0", "lambda_0": np.geomspace(0.2, 0.01, 10), "keep_predictions": True}, y),
        "one_se": ({"rule": "one_se", "algorithm": "local_search"}, names),
        "size": ({"select": "size", "max_support": 8}, y),
        "scoring": ({"scoring": "roc_auc", "loss": "squared_hinge"}, y),
        "hinge": ({"loss": "hinge", "probability": True, "n_shrinkage": 2}, y),
        "exact": ({"algorithm": "exact", "max_support": 5, "shrinkage": [0.1, 0.01]}, y),
        "multinomial": ({"multi_class": "multinomial"}, three),
        "three classes": ({"multi_class": "ovr"}, three),
        "shared support": ({"multi_class": "ovr_shared", "select": "size", "max_support": 6}, three),
    }
    for name, (settings, target) in validated.items():
        yield f"estimator/L0ClassifierCV/{name}", partial(fitted, ez.L0ClassifierCV(**short | settings), X, target)
    yield "estimator/L0ClassifierCV/weights", partial(fitted, ez.L0ClassifierCV(**short), X, y, sample_weight=weight)
    X, numbers = problem("squared_error", n=150)
    direct: dict[str, dict[str, Any]] = {
        "criterion": {},
        "k": {"k": 4},
        "exact": {"k": 3, "algorithm": "exact", "lambda_2": RIDGE},
    }
    for name, settings in direct.items():
        yield f"estimator/L0Regressor/{name}", partial(fitted, ez.L0Regressor(**settings, **ONE), X, numbers)
    chosen: dict[str, dict[str, Any]] = {"l0l2": {}, "size": {"select": "size", "max_support": 8}}
    for name, settings in chosen.items():
        yield f"estimator/L0RegressorCV/{name}", partial(fitted, ez.L0RegressorCV(**short | settings), X, numbers)
    for name, (X, y) in storages(False).items():
        yield f"storage/{name}/L0Classifier", partial(fitted, ez.L0Classifier(k=3, **ONE), X, y)
        if name not in SLOW:
            yield f"storage/{name}/L0ClassifierCV", partial(fitted, ez.L0ClassifierCV(cv=3, n_lambda=15, **ONE), X, y)
    X, y = problem("logistic", n=120)
    yield "stability/k", partial(ez.stability_selection, X, y, k=4, n_subsamples=20, random_state=1, **ONE)
    yield "stability/lambda_0", partial(ez.stability_selection, X, y, lambda_0=0.02, n_subsamples=10, algorithm="cd", **ONE)
    yield "datasets", datasets
    yield "metrics", partial(metrics, X, y)


def datasets() -> Any:
    made = [
        ez.datasets.make_classification(30, 20, 3, random_state=1),
        ez.datasets.make_classification(30, 20, 3, snr=4.0, correlation="constant", rho=0.5, dtype=np.float32, random_state=2),
    ]
    return made, ez.datasets.draw_labels(made[0][0], made[0][2], s=2.0, random_state=9)


def metrics(X: Any, y: Any) -> Any:
    model = ez.fit_sizes(X, y, 5, **ONE)[5]
    scores = ez.metrics.support_scores(np.arange(40) % 8 == 0, model.support)
    return [float(scores.f1), float(scores.precision), float(scores.recall), model.predict(X), model.predict_proba(X)]
