"""Model files: what is written comes back, and what is not a model is refused with a reason."""

import copy
import errno
import json
import os
import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.problems import LOSSES, random_problem, target

import ellzero as ez
from ellzero.estimators.model_content import write_model
from ellzero.estimators.model_file import read_model

X, Y, W = random_problem(3, n=80, p=12)
LABELS = target(Y, "logistic")
THREE = np.digitize(Y, np.quantile(Y, [0.33, 0.67]))
FRAME = pd.DataFrame(X, columns=[f"Größe {j}" if j else 'a "b"\n\t\\ 特徴 🎉' for j in range(12)])

FITTED = {
    "binary": lambda: ez.L0Classifier(k=3).fit(X, LABELS),
    "multinomial": lambda: ez.L0Classifier(k=3, multi_class="multinomial").fit(X, THREE),
    "one against the rest": lambda: ez.L0Classifier(k=3, multi_class="ovr").fit(X, THREE),
    "shared support": lambda: ez.L0Classifier(k=3, multi_class="ovr_shared").fit(X, THREE),
    "hinge": lambda: ez.L0Classifier("hinge", k=3).fit(X, LABELS),
    "calibrated hinge": lambda: ez.L0Classifier("hinge", k=3, probability=True).fit(X, LABELS),
    "calibrated multiclass": lambda: ez.L0Classifier("squared_hinge", k=3, probability=True).fit(X, THREE),
    "least squares": lambda: ez.L0Classifier("squared_error", k=3).fit(X, LABELS),
    "exact": lambda: ez.L0Classifier(k=2, algorithm="exact").fit(X, LABELS),
    "criterion": lambda: ez.L0Classifier().fit(X, LABELS),
    "empty": lambda: ez.L0Classifier(k=0).fit(X, LABELS),
    "no intercept": lambda: ez.L0Classifier(k=2, fit_intercept=False, standardize=False).fit(X, LABELS),
    "sparse coefficients": lambda: ez.L0Classifier(k=3).fit(X, THREE).sparsify(),
    "cross-validated": lambda: ez.L0ClassifierCV(n_shrinkage=2, cv=3).fit(X, LABELS),
    "cross-validated size": lambda: ez.L0ClassifierCV(n_shrinkage=2, cv=3, select="size", max_support=4).fit(X, LABELS),
    "regression": lambda: ez.L0Regressor(k=3).fit(X, Y),
    "regression of two targets": lambda: ez.L0Regressor(k=3).fit(X, np.column_stack([Y, X[:, 1] - Y])),
    "sparse regression of two targets": lambda: ez.L0Regressor(k=3).fit(X, np.column_stack([Y, X[:, 1] - Y])).sparsify(),
    "sparse regression": lambda: ez.L0Regressor(k=3).fit(X, Y).sparsify(),
    "cross-validated regression": lambda: ez.L0RegressorCV(n_shrinkage=2, cv=3).fit(X, Y),
}


def saved(estimator, folder, name="model.json"):
    file = folder / name
    estimator.save(file)
    return file


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
@pytest.mark.parametrize("kind", FITTED)
def test_round_trip(kind, tmp_path):
    estimator = FITTED[kind]()
    loaded = ez.load(saved(estimator, tmp_path))
    assert type(loaded) is (ez.L0Regressor if "regression" in kind else ez.L0Classifier)
    estimator.densify()
    np.testing.assert_array_equal(loaded.coef_, estimator.coef_)
    np.testing.assert_array_equal(loaded.intercept_, estimator.intercept_)
    np.testing.assert_array_equal(loaded.support_, estimator.support_)
    np.testing.assert_array_equal(loaded.predict(X), estimator.predict(X))
    assert np.shape(loaded.coef_) == np.shape(estimator.coef_)
    assert np.shape(loaded.intercept_) == np.shape(estimator.intercept_)
    assert loaded.n_features_in_ == 12
    assert not hasattr(loaded, "feature_names_in_")
    assert hasattr(loaded, "predict_proba") == hasattr(estimator, "predict_proba")
    if hasattr(estimator, "predict_proba"):
        np.testing.assert_array_equal(loaded.predict_proba(X), estimator.predict_proba(X))
    # A loaded model is saved as the same text again.
    assert saved(loaded, tmp_path, "again.json").read_text() == (tmp_path / "model.json").read_text()


def test_settings_come_back(tmp_path):
    given = {"k": 3, "lambda_0": 0.01, "lambda_1": 0.002, "lambda_2": 0.003, "fit_intercept": False, "standardize": False}
    loaded = ez.load(saved(ez.L0Classifier("squared_hinge", **given).fit(X, LABELS), tmp_path))
    assert {name: getattr(loaded, name) for name in given} == given
    chosen = ez.L0ClassifierCV(n_shrinkage=2, cv=3).fit(X, LABELS)
    loaded = ez.load(saved(chosen, tmp_path))
    assert (loaded.k, loaded.lambda_0, loaded.lambda_2) == (chosen.k_, chosen.lambda_0_, chosen.lambda_2_)


def test_a_loaded_model_can_be_fitted_anew(tmp_path):
    estimator = ez.L0Classifier("hinge", k=3, probability=True).fit(FRAME, LABELS)
    loaded = ez.load(saved(estimator, tmp_path)).fit(FRAME, LABELS)
    np.testing.assert_array_equal(loaded.coef_, estimator.coef_)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["", "z", "ß 🎉"]),
        np.array(["no", "yes"], dtype=object),
        np.array([False, True]),
        np.array([-1, 1]),
        np.array([0, 1, 2], dtype=np.uint8),
        np.array([-1.0, 1.0]),
        np.array([1.0, 2.0, 3.0], dtype=np.float32),
        np.array([2**62, 2**62 + 1]),
    ],
    ids=lambda labels: f"{labels.dtype}-{len(labels)}",
)
def test_labels_keep_their_type(labels, tmp_path):
    y = labels[THREE % len(labels)]
    estimator = ez.L0Classifier(k=2).fit(X, y)
    loaded = ez.load(saved(estimator, tmp_path))
    assert loaded.classes_.tolist() == labels.tolist()
    assert [type(label) for label in loaded.classes_.tolist()] == [type(label) for label in labels.tolist()]
    assert loaded.predict(X).tolist() == estimator.predict(X).tolist()


def test_labels_that_json_has_not(tmp_path):
    dates = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]")
    estimator = ez.L0Classifier(k=1).fit(X, LABELS)
    for labels in (dates, np.array([b"a", b"b"]), np.array([1, "a"], dtype=object), np.array([2**70, 2**71], dtype=object)):
        estimator.classes_ = labels
        with pytest.raises(ez.InvalidInputError, match="labels that are strings, numbers or booleans"):
            estimator.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_labels_of_unusual_width(tmp_path):
    loaded = ez.load(saved(ez.L0Classifier(k=1).fit(X, np.arange(3, dtype=np.longdouble)[1 + (LABELS > 0)]), tmp_path))
    assert loaded.classes_.tolist() == [1.0, 2.0]
    large = np.array([2**63 + 1, 2**64 - 1], dtype=np.uint64)
    with pytest.raises(ez.InvalidInputError, match=r"only integers below 2\^63 can be saved as labels"):
        saved(ez.L0Classifier(k=1).fit(X, large[(LABELS > 0).astype(int)]), tmp_path, "large.json")
    assert not (tmp_path / "large.json").exists()


def test_names(tmp_path):
    loaded = ez.load(saved(ez.L0Classifier(k=3).fit(FRAME, LABELS), tmp_path))
    assert loaded.feature_names_in_.tolist() == FRAME.columns.tolist()
    loaded.predict(FRAME)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(FRAME.rename(columns={"Größe 3": "Grösse 3"}))


def test_preparation(tmp_path):
    estimator = ez.L0Classifier(k=3).fit(X, LABELS)
    write_model(tmp_path / "model.json", estimator, {"columns": ["ä"], "medians": [1.5]})
    assert read_model(tmp_path / "model.json")[1] == {"columns": ["ä"], "medians": [1.5]}
    assert read_model(saved(estimator, tmp_path))[1] is None
    ez.load(tmp_path / "model.json").predict(X)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("data", [X, FRAME], ids=["array", "frame"])
def test_models_of_paths_are_saved_too(loss, data, tmp_path):
    y = target(Y, loss) if loss == "squared_error" else np.where(target(Y, loss) > 0, "yes", "no")
    path = ez.fit_path(data, y, loss=loss, max_support=4)
    for model in (path[-1], path.at_support(2), ez.fit_sizes(data, y, [3], loss=loss, lambda_2=0.01)[3]):
        loaded = ez.load(saved(model, tmp_path))
        np.testing.assert_array_equal(loaded.predict(data), model.predict(data))
        np.testing.assert_array_equal(loaded.support_, model.support)
        assert hasattr(loaded, "predict_proba") == (loss == "logistic")
        assert hasattr(loaded, "feature_names_in_") == (data is FRAME)
    content = json.loads((tmp_path / "model.json").read_text())
    assert content["penalties"] == {"k": None, "lambda_0": None, "lambda_1": None, "lambda_2": None}  # a model knows none
    assert content["standardize"] is None
    path[-1].save(tmp_path / "model.json")
    assert ez.load(tmp_path / "model.json").lambda_0 == path.lambda_0[-1]


# The bytes of a file, as versions before this one wrote them: whoever compares or signs model files relies on them.

WRITTEN = {
    "model": """{"format": "ellzero model", "version": 1, "estimator": "L0Classifier", "loss": "logistic",
        "penalties": {"k": null, "lambda_0": 0.125, "lambda_1": null, "lambda_2": null}, "fit_intercept": null,
        "standardize": null, "n_features": 3, "feature_names": ["a", "b", "größe"],
        "classes": {"type": "string", "values": ["nö", "yes"]},
        "outputs": [{"intercept": 0.25, "features": [0, 2], "coefficients": [1.5, -0.1]}], "calibration": null}""",
    "classifier": """{"format": "ellzero model", "version": 1, "estimator": "L0Classifier", "loss": "hinge",
        "penalties": {"k": 2, "lambda_0": null, "lambda_1": 0.0, "lambda_2": 0.5}, "fit_intercept": true,
        "standardize": true, "n_features": 3, "feature_names": null, "classes": {"type": "integer", "values": [0, 1]},
        "outputs": [{"intercept": 0.25, "features": [0, 2], "coefficients": [1.5, -0.1]}], "calibration": [[2.0, -0.5]],
        "preparation": {"columns": ["ä"]}}""",
    "regressor": """{"format": "ellzero model", "version": 1, "estimator": "L0Regressor", "loss": "squared_error",
        "penalties": {"k": null, "lambda_0": 0.01, "lambda_1": 0.0, "lambda_2": 0.001}, "fit_intercept": false,
        "standardize": true, "n_features": 3, "feature_names": null, "classes": null,
        "outputs": [{"intercept": 0.0, "features": [], "coefficients": []}], "calibration": null}""",
}


def as_written(name):
    return (json.dumps(json.loads(WRITTEN[name]), indent=1, ensure_ascii=False) + "\n").encode()


def test_the_bytes_of_a_model(tmp_path):
    y = np.where(X[:, 0] > 0.0, "yes", "nö")
    model = replace(
        ez.fit_path(pd.DataFrame(X[:, :3], columns=["a", "b", "größe"]), y, max_support=2)[-1],
        support=np.array([2, 0], dtype=np.int32),
        values=np.array([-0.1, 1.5]),
        intercept=0.25,
        lambda_0=0.125,
    )
    assert saved(model, tmp_path).read_bytes() == as_written("model")
    # An estimator of the same model differs in what it knows of its fit, and in nothing else.
    estimator = ez.load(tmp_path / "model.json")
    content = json.loads(WRITTEN["model"]) | {"fit_intercept": True, "standardize": True}
    content["penalties"] |= {"lambda_1": 0.0, "lambda_2": 0.001}
    assert saved(estimator, tmp_path).read_text("utf-8") == json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def test_the_bytes_of_estimators(tmp_path):
    classifier = ez.L0Classifier("hinge", k=2, lambda_2=0.5, probability=True)
    classifier.coef_, classifier.intercept_ = np.array([[1.5, 0.0, -0.1]]), np.array([0.25])
    classifier.classes_, classifier.n_features_in_ = np.array([0, 1]), 3
    classifier.calibration_ = np.array([[2.0, -0.5]])
    write_model(tmp_path / "model.json", classifier, {"columns": ["ä"]})
    assert (tmp_path / "model.json").read_bytes() == as_written("classifier")
    regressor = ez.L0Regressor(lambda_0=0.01, fit_intercept=False)
    regressor.coef_, regressor.intercept_, regressor.n_features_in_ = np.zeros(3), 0.0, 3
    assert saved(regressor, tmp_path).read_bytes() == as_written("regressor")


# What is wrong with a file, one thing at a time.

CLASSIFIER = json.loads(
    """{"format": "ellzero model", "version": 1, "estimator": "L0Classifier", "loss": "hinge",
    "penalties": {"k": 2, "lambda_0": null, "lambda_1": 0.0, "lambda_2": 0.001}, "fit_intercept": true, "standardize": true,
    "n_features": 3, "feature_names": ["a", "b", "c"], "classes": {"type": "string", "values": ["no", "yes"]},
    "outputs": [{"intercept": 0.5, "features": [0, 2], "coefficients": [1.0, -2.0]}], "calibration": [[1.5, 0.1]],
    "preparation": {}}"""
)
REGRESSOR = {**CLASSIFIER, "estimator": "L0Regressor", "loss": "squared_error", "classes": None, "calibration": None}
REMOVED = object()
BAD_VALUES = {
    ("format",): ["ellzero", None, 1, [], REMOVED],
    ("version",): [0, 2, 1.0, True, "1", None, [1], REMOVED],
    ("estimator",): ["L0ClassifierCV", "L0Regressor", "os.system", "", None, 1, {}, REMOVED],
    ("loss",): ["exponential", "logistic", "", None, 1, ["hinge"], REMOVED],
    ("penalties",): [None, [], 1, {}, REMOVED],
    ("penalties", "k"): [-1, 1.5, "2", True, [], 2**40, 10**400, REMOVED],
    ("penalties", "lambda_0"): [-1.0, "0.1", True, [0.1], 10**400, REMOVED],
    ("penalties", "lambda_1"): [-1, {}, False, REMOVED],
    ("penalties", "lambda_2"): [-1e-9, "x", REMOVED],
    ("fit_intercept",): [1, "true", [], REMOVED],
    ("standardize",): [0, "false", {}, REMOVED],
    ("n_features",): [0, -1, 2, 4, 3.0, "3", None, True, 2**31, 10**30, REMOVED],
    ("feature_names",): [[], ["a", "b"], ["a", "b", 3], ["a", "b", None], "abc", {"a": 1, "b": 2, "c": 3}, 3, REMOVED],
    ("classes",): [None, [], ["no", "yes"], {}, 1, REMOVED],
    ("classes", "type"): ["str", "boolean", "integer", "number", "", None, 1, ["string"], REMOVED],
    ("classes", "values"): [[], ["no"], ["no", "no"], ["a", "b", "c"], [0, 1], ["no", None], "no", None, {"no": 1}, REMOVED],
    ("outputs",): [[], None, {}, 1, "x", [None], [[]], [1], REMOVED],
    ("outputs", 0, "intercept"): [None, "0", True, [], 10**400, REMOVED],
    ("outputs", 0, "features"): [[0], [0, 0], [0, 3], [-1, 0], [0, 1.0], [False, 1], ["a", "b"], None, 1, [0, 2, 1], REMOVED],
    ("outputs", 0, "coefficients"): [[1.0], [1.0, None], [1.0, "2"], [True, 1.0], [[1.0], 1.0], None, 1, {}, REMOVED],
    ("calibration",): [[], [[1.0]], [[1.0, 2.0, 3.0]], [[1.0, 2.0]] * 2, [1.0, 2.0], [[1.0, None]], [["1", 2.0]], 1, REMOVED],
    ("preparation",): [[], "x", 1, True],
    ("multi_class",): ["ovr", "multinomial", "softmax", 1, []],  # of two classes
}
CORRUPTIONS = [(place, value) for place, values in BAD_VALUES.items() for value in values]


def with_entry(content, place, value):
    out = copy.deepcopy(content)
    inner = out
    for key in place[:-1]:
        inner = inner[key]
    if value is REMOVED:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return out


def write(folder, content):
    file = folder / "model.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_the_corrupted_content_is_sound(tmp_path):
    frame = pd.DataFrame([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], columns=list("abc"))
    loaded = ez.load(write(tmp_path, CLASSIFIER))
    assert loaded.predict(frame).tolist() == ["yes", "no"]
    assert ez.load(write(tmp_path, REGRESSOR)).predict(frame).tolist() == [1.5, -1.5]
    without = with_entry(CLASSIFIER, ("preparation",), REMOVED)
    assert read_model(write(tmp_path, without))[1] is None
    more = CLASSIFIER | {"made_by": "a later version of the program"}
    assert ez.load(write(tmp_path, more)).n_features_in_ == 3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("place", "value"), CORRUPTIONS, ids=lambda part: "removed" if part is REMOVED else str(part)[:30])
def test_single_corruptions_are_refused(place, value, tmp_path):
    file = write(tmp_path, with_entry(CLASSIFIER, place, value))
    with pytest.raises(ez.InvalidInputError) as caught:
        ez.load(file)
    message = str(caught.value)
    assert message.startswith(str(file))
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize(
    "content",
    [
        REGRESSOR | {"loss": "hinge"},
        REGRESSOR | {"classes": CLASSIFIER["classes"]},
        REGRESSOR | {"calibration": [[1.0, 0.0]]},
        CLASSIFIER | {"outputs": CLASSIFIER["outputs"] * 2},
        REGRESSOR | {"estimator": "L0Classifier"},
        CLASSIFIER | {"loss": "logistic"},
        CLASSIFIER | {"classes": {"type": "integer", "values": [0, 10**30]}},
        CLASSIFIER | {"classes": {"type": "integer", "values": [0, True]}},
        CLASSIFIER | {"classes": {"type": "number", "values": [0.0, 2 * 10**308]}},
        CLASSIFIER | {"classes": {"type": "boolean", "values": [0, 1]}},
    ],
)
def test_parts_that_do_not_belong_together(content, tmp_path):
    with pytest.raises(ez.InvalidInputError, match="is malformed"):
        ez.load(write(tmp_path, content))


TEXT = json.dumps(CLASSIFIER)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a model file"),
        ("[]", "format"),
        ("1", "format"),
        ("{}", "format"),
        ("\x00\x01", "not a model file"),
        (TEXT.replace("1.5", "NaN"), "NaN"),
        (TEXT.replace("-2.0", "-Infinity"), "Infinity"),
        (TEXT.replace("-2.0", "1e999"), "a number that is too large"),
        (TEXT.replace("0.001", "1e999"), "a number that is too large"),
        (TEXT.replace("0.5", "9" * 400), "an integer of 400 digits"),
        (TEXT.replace("0.5", "9" * 5000), "not a model file"),
        ("[" * 100_000, "not a model file"),
        (TEXT.replace("{}", '{"a":' * 100_000), "not a model file"),
    ],
)
def test_what_is_no_model(text, reason, tmp_path):
    with pytest.raises(ez.InvalidInputError, match=reason):
        ez.load(write(tmp_path, text))


def test_truncated_and_garbled_bytes(tmp_path):
    file = saved(ez.L0Classifier(k=2).fit(FRAME, np.where(LABELS > 0, "über", "unter")), tmp_path)
    whole = file.read_bytes()
    for length in range(0, len(whole) - 2, 7):
        file.write_bytes(whole[:length])
        with pytest.raises(ez.InvalidInputError, match="not a model file"):
            ez.load(file)
    file.write_bytes(whole.replace("ü".encode(), b"\xff"))
    with pytest.raises(ez.InvalidInputError, match="not a model file"):
        ez.load(file)


@pytest.mark.parametrize("seed", range(3))
def test_flipped_bytes_give_a_model_or_a_reason(seed, tmp_path):
    rng = np.random.default_rng(seed)
    file = tmp_path / "model.json"
    refused = 0
    for _ in range(300):
        garbled = bytearray(TEXT.encode())
        garbled[rng.integers(len(garbled))] = rng.integers(256)
        file.write_bytes(garbled)
        try:
            ez.load(file)
        except ez.InvalidInputError:
            refused += 1
    assert refused > 100


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        ez.load(tmp_path / "nothing.json")


def test_an_unfitted_estimator_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        ez.L0Classifier().save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_an_error_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    estimator = ez.L0Classifier(k=2).fit(X, LABELS)
    file = saved(estimator, tmp_path)
    before = file.read_bytes()

    def fail(*_):
        raise OSError("the disk is full")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="the disk is full"):
        ez.L0Classifier(k=3).fit(X, LABELS).save(file)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        ez.L0Classifier(k=3).fit(X, LABELS).save(file)
    assert caught.value.filename == str(file)
    monkeypatch.undo()
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
    estimator.coef_ = np.full((1, 12), np.nan)  # no JSON can hold it
    with pytest.raises(ValueError, match="JSON"):
        estimator.save(file)
    assert file.read_bytes() == before


def test_a_small_file_may_claim_many_features_but_little_memory(tmp_path):
    X = np.random.default_rng(0).standard_normal((50, 20))
    ez.L0Classifier(k=2).fit(X, (X[:, 0] > 0.0).astype(int)).save(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text()) | {"n_features": 10**8, "feature_names": None}
    (tmp_path / "model.json").write_text(json.dumps(content))
    tracemalloc.start()
    try:
        model = ez.load(tmp_path / "model.json")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.n_features_in_ == 10**8
    assert most < 20e6  # a vector of so many numbers has 800 MB


def test_files_of_several_outputs(tmp_path):
    """Contradictions are refused."""
    three, two = FITTED["multinomial"](), FITTED["regression of two targets"]()
    for model in (three, two):
        assert json.loads(saved(model, tmp_path).read_text())["version"] == 1
    assert json.loads(saved(two, tmp_path).read_text())["estimator"] == "L0Regressor"
    content = json.loads(saved(three, tmp_path).read_text())
    assert content["multi_class"] == content["loss"] == "multinomial"
    for change in (
        {"multi_class": "ovr"},
        {"loss": "logistic"},
        {"multi_class": "ovr", "loss": "hinge", "outputs": content["outputs"][:2]},
        {"outputs": content["outputs"][:2]},
        {"calibration": [[1.0, 0.0]] * 3},
        {"classes": {"type": "integer", "values": [0, 1]}, "outputs": content["outputs"][:1]},
    ):
        with pytest.raises(ez.InvalidInputError, match="is malformed"):
            ez.load(write(tmp_path, content | change))
    silent = json.loads(saved(FITTED["one against the rest"](), tmp_path).read_text())
    assert silent.pop("multi_class") == "ovr"
    with pytest.raises(ez.InvalidInputError, match="is malformed"):
        ez.load(write(tmp_path, silent))


@pytest.mark.parametrize("estimator", [ez.L0ClassifierCV(cv=3), ez.L0Classifier(), ez.L0Classifier(k=2, algorithm="exact")])
def test_fitted_estimators_hold_nothing_that_skops_cannot_write(estimator):
    """It asks every object for `__reduce__`, as pickle's first protocol does, which objects of the core do not have."""
    X, y, _ = ez.datasets.make_classification(100, 10, 2, s=3.0, random_state=0)
    again = pickle.loads(pickle.dumps(estimator.fit(X, y), protocol=0))
    np.testing.assert_array_equal(again.predict(X), estimator.predict(X))
