"""ONNX graphs of fitted models, run by onnxruntime: the same predictions as those of Python."""

import json
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

import ellzero as ez

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

X, TRUTH, _ = ez.datasets.make_classification(200, 12, 4, s=2.0, random_state=0)
X = X * np.linspace(0.1, 30.0, 12) + 5.0  # columns of different scales and means
IRIS, SPECIES = load_iris(return_X_y=True)
HARD = np.vstack([X, 1e6 * X[:5], -1e6 * X[:5]])


def run(model, rows, dtype="float64"):
    """Return the outputs of a model's graph by name."""
    session = runtime.InferenceSession(ez.to_onnx(model, dtype=dtype).SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": np.asarray(rows, dtype=dtype)}), strict=True))


def check_classifier(model, rows, probabilities=True):
    out = run(model, rows)
    assert out["label"].tolist() == model.predict(rows).tolist()
    decision = model.decision_function(rows)
    np.testing.assert_allclose(out["decision"], decision.reshape(len(rows), -1), rtol=1e-12, atol=1e-12 * abs(decision).max())
    assert ("probabilities" in out) == probabilities
    if probabilities:
        np.testing.assert_allclose(out["probabilities"], model.predict_proba(rows), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"k": 3},
        {"k": 3, "fit_intercept": False},
        {"k": 3, "standardize": False},
        {"k": 0},
        {"loss": "hinge", "k": 2, "probability": True},
        {"loss": "squared_hinge", "lambda_0": 0.01, "probability": True},
        {"k": 3, "pos_label": -1},
    ],
)
def test_two_classes(options):
    check_classifier(ez.L0Classifier(**options).fit(X, TRUTH), HARD)


def test_two_classes_without_probabilities():
    check_classifier(ez.L0Classifier("hinge", k=2).fit(X, TRUTH), HARD, probabilities=False)


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes, ü"],
        np.array(["no", "yes"], dtype=object),
        [False, True],
        [3, 70_000_000_000],
        np.array([1, 2], dtype=np.uint8),
        [0.0, 1.0],
    ],
    ids=["texts", "objects", "truth", "large", "bytes", "floats"],
)
def test_labels_as_they_were_given(labels):
    y = np.asarray(labels)[(TRUTH > 0).astype(int)]
    check_classifier(ez.L0Classifier(k=2).fit(X, y), X)


@pytest.mark.parametrize(
    "options",
    [
        {"k": 2, "multi_class": "multinomial"},
        {"k": 2, "multi_class": "ovr"},
        {"k": 1, "multi_class": "ovr_shared"},
        {"loss": "hinge", "k": 2, "probability": True},
    ],
)
def test_several_classes(options):
    y = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
    model = ez.L0Classifier(**options).fit(IRIS, y)
    check_classifier(model, np.vstack([IRIS, 1e5 * IRIS, -1e5 * IRIS]))


def test_no_class_has_a_share():
    """Far away from all rows every class loses against the rest, and all are as probable."""
    model = ez.L0Classifier(k=2, multi_class="ovr").fit(IRIS, SPECIES)
    model.intercept_ = np.full(3, -1e9)
    check_classifier(model, IRIS)
    assert np.ptp(run(model, IRIS)["probabilities"]) == 0.0


def test_several_targets():
    rng = np.random.default_rng(2)
    targets = np.column_stack([X[:, 0], X[:, 1] - X[:, 2]]) + 0.1 * rng.normal(size=(len(X), 2))
    model = ez.L0Regressor(k=3).fit(X, targets)
    np.testing.assert_allclose(run(model, X)["prediction"], model.predict(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "options", [{"k": 3}, {"k": 3, "fit_intercept": False}, {"k": 0}, {"lambda_0": 0.1, "standardize": False}]
)
def test_regression(options):
    y = X[:, 0] - 0.1 * X[:, 5] + np.random.default_rng(1).normal(size=len(X))
    model = ez.L0Regressor(**options).fit(X, y)
    out = run(model, HARD)
    assert list(out) == ["prediction"]
    np.testing.assert_allclose(out["prediction"], model.predict(HARD), rtol=1e-12)


def test_cross_validated_estimators():
    check_classifier(ez.L0ClassifierCV(cv=3).fit(X, TRUTH), HARD)
    check_classifier(ez.L0ClassifierCV(cv=3, rule="one_se", penalty="l0").fit(IRIS, SPECIES), IRIS)
    model = ez.L0RegressorCV(cv=3).fit(X, X[:, 0])
    np.testing.assert_allclose(run(model, X)["prediction"], model.predict(X), rtol=1e-12)


def test_models_of_paths_and_files(tmp_path):
    model = ez.fit_path(X, TRUTH).at_support(3)
    out = run(model, HARD)
    assert out["label"].tolist() == model.predict(HARD).tolist()
    np.testing.assert_allclose(out["probabilities"], model.predict_proba(HARD), rtol=1e-9, atol=1e-12)
    model.save(tmp_path / "model.json")
    check_classifier(ez.load(tmp_path / "model.json"), HARD)
    check_classifier(ez.L0Classifier(k=2).fit(X, TRUTH).sparsify(), X)


def test_single_precision():
    model = ez.L0Classifier(k=3).fit(X, TRUTH)
    out = run(model, X, "float32")
    assert out["probabilities"].dtype == np.float32
    np.testing.assert_allclose(out["probabilities"], model.predict_proba(X), atol=1e-4)
    labels = np.array([2.0, 16_777_217.0])[(TRUTH > 0).astype(int)]  # which single precision would change
    assert set(run(ez.L0Classifier(k=3).fit(X, labels), X, "float32")["label"]) == {2.0, 16_777_217.0}


def test_metadata_name_features_and_classes():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f'gene "{j}" <b>' for j in range(12)])
    graph = ez.to_onnx(ez.L0Classifier(k=2).fit(frame, np.where(TRUTH > 0, "ja", "nein")))
    about = {entry.key: json.loads(entry.value) for entry in graph.metadata_props}
    assert about == {"loss": "logistic", "features": frame.columns.tolist(), "classes": ["ja", "nein"]}
    assert graph.producer_name == "ellzero"


def test_what_cannot_be_exported(monkeypatch):
    with pytest.raises(ez.InvalidInputError, match="model must be a fitted estimator"):
        ez.to_onnx(3)
    with pytest.raises(ez.InvalidInputError, match="dtype must be one of 'float64', 'float32'"):
        ez.to_onnx(ez.L0Classifier(), dtype="float16")
    with pytest.raises(ValueError, match="not fitted"):
        ez.to_onnx(ez.L0Classifier())
    model = ez.L0Classifier(k=1).fit(X, TRUTH)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ez.InvalidInputError, match=r"onnx is needed .* pip install 'ellzero\[onnx\]'"):
        ez.to_onnx(model)


def test_score_cards():
    rows = (X.mean(axis=0) < X).astype(int)
    check_classifier(ez.RiskScore(k=3).fit(rows, rows[:, 0] | rows[:, 1]), rows)
