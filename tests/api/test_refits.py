"""A fit that fails changes nothing: the estimator keeps the whole model that it had, or has none."""

import atexit
import copy
import pickle
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import ellzero as ez
from ellzero import estimators
from ellzero.estimators.resampling import Crew, Dismissed

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5))
SIDE = (X[:, 0] > 0.0).astype(int)
PETS, WORDS = np.array(["cat", "dog"])[SIDE], np.array(["yes", "no"])[SIDE]
NAMED = pd.DataFrame(X, columns=list("abcde"))
OTHER = pd.DataFrame(X[:, :3], columns=list("uvw"))


def failing_score(estimator, X, y):
    raise ZeroDivisionError("the scorer fails")


def interrupting(*_):
    raise KeyboardInterrupt


FAILURES = {
    "bound": {"lower": 5.0},
    "feature": {"unpenalized": [99]},
    "penalty": {"lambda_2": -1.0},
    "tolerance": {"tol": 7},
    "calibration": {"loss": "hinge", "probability": True, "random_state": -1},
    "interrupt": {"progress": interrupting},
}
CV_FAILURES = {
    "splitter": {"cv": "nonsense"},
    "fold": {"cv": [(np.arange(20), np.arange(20, 40)), (np.flatnonzero(SIDE), np.arange(40))]},
    "score": {"scoring": failing_score},
    "tolerance": {"tol": 7},
    "interrupt": {"progress": interrupting},
}


def content(estimator):
    """Everything that a user can ask of a fitted estimator, as values that compare."""
    answers = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    names = getattr(estimator, "feature_names_in_", None)
    data = X[:, : estimator.n_features_in_] if names is None else pd.DataFrame(X[:, : len(names)], columns=names)
    answers["predict"] = estimator.predict(data)
    if hasattr(estimator, "predict_proba"):
        answers["predict_proba"] = estimator.predict_proba(data)
    return {name: value.tolist() if isinstance(value, np.ndarray) else repr(value) for name, value in answers.items()}


def unhurried(answers):
    """The answers without those that say how long a search took."""
    return {name: value for name, value in answers.items() if name not in ("solution_", "certificate_")}


def after_failure(estimator, data, y, **settings):
    """The estimator's content after a fit that must fail."""
    with pytest.raises((ValueError, ZeroDivisionError, KeyboardInterrupt)):
        estimator.set_params(**settings).fit(data, y)
    return content(estimator)


@pytest.mark.parametrize("how", FAILURES)
@pytest.mark.parametrize("y", [WORDS, np.arange(40) % 3], ids=["two classes", "three classes"])
def test_a_classifier_keeps_its_labels_and_coefficients(how, y):
    model = ez.L0Classifier(k=1).fit(NAMED, PETS)
    before = content(model)
    assert after_failure(model, OTHER, y, **FAILURES[how]) == before
    assert before["classes_"] == ["cat", "dog"]


@pytest.mark.parametrize("how", ["bound", "penalty", "interrupt"])
def test_a_regression_keeps_its_features(how):
    model = ez.L0Regressor(k=1).fit(NAMED, X[:, 0])
    before = content(model)
    assert after_failure(model, OTHER, X[:, 0], **FAILURES[how]) == before
    assert before["feature_names_in_"] == list("abcde")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("kind", "how"),
    [(ez.L0ClassifierCV, how) for how in CV_FAILURES] + [(ez.L0RegressorCV, how) for how in CV_FAILURES if how != "fold"],
)
def test_a_cross_validated_model_stays_whole(kind, how, n_jobs):
    first, second = (PETS, WORDS) if kind is ez.L0ClassifierCV else (X[:, 0], X[:, 1])
    model = kind(cv=2, n_jobs=n_jobs).fit(NAMED, first)
    before = content(model)
    assert after_failure(model, OTHER, second, **CV_FAILURES[how]) == before


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (ez.L0Classifier(k=1, lambda_2=-1.0), PETS),
        (ez.L0Classifier("hinge", k=1, probability=True, random_state=-1), PETS),
        (ez.L0Classifier(k=1, progress=interrupting), PETS),
        (ez.L0Regressor(k=1, lower=5.0), X[:, 0]),
        (ez.L0ClassifierCV(scoring=failing_score), PETS),
        (ez.L0RegressorCV(cv=1), X[:, 0]),
    ],
)
def test_a_failed_first_fit_leaves_an_unfitted_estimator(model, y):
    model = clone(model)
    before = dict(vars(model))
    with pytest.raises((ValueError, ZeroDivisionError, KeyboardInterrupt)):
        model.fit(X, y)
    assert vars(model) == before
    for use in (model.predict, model.sparsify, model.densify):
        with pytest.raises(NotFittedError):
            use(X) if use == model.predict else use()
    if hasattr(model, "predict_proba"):
        with pytest.raises(NotFittedError):
            model.predict_proba(X)


class Interrupter:
    """Raises KeyboardInterrupt before the given line of the estimators' code that is run, counted from the first."""

    def __init__(self, at):
        self.at, self.lines, self.room = at, 0, str(Path(estimators.__file__).parent)

    def __call__(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(self.room):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.at:
                raise KeyboardInterrupt
        return self

    def run(self, function):
        """Whether the function came to its end."""
        sys.settrace(self)
        try:
            function()
        except KeyboardInterrupt:
            return False
        finally:
            sys.settrace(None)
        return True


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "make",
    [
        ez.L0Classifier("hinge", probability=True, max_support=2),
        ez.L0Classifier(k=2, algorithm="exact"),
        ez.L0ClassifierCV(cv=2, select="size", max_support=2),
    ],
    ids=["calibrated", "exact", "cross-validated"],
)
@pytest.mark.filterwarnings("ignore:the chosen model has max_support", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_any_line_leaves_the_old_model_or_the_new_one(make, seed):
    old = clone(make).fit(NAMED, PETS)
    new = content(clone(make).fit(OTHER, WORDS))
    before = content(old)
    counter = Interrupter(at=-1)
    assert counter.run(lambda: copy.deepcopy(old).fit(OTHER, WORDS))
    rng = np.random.default_rng(seed)
    ends = [counter.lines - back for back in range(6)] if seed == 0 else []
    for at in [*rng.integers(1, counter.lines - 6, 8).tolist(), *ends]:
        model = copy.deepcopy(old)
        ended = Interrupter(at).run(lambda model=model: model.fit(OTHER, WORDS))
        assert not ended or at in ends
        after = content(model)
        assert unhurried(after) in ([unhurried(new)] if ended else [unhurried(before), unhurried(new)]), at


@pytest.mark.timeout(300)
def test_a_crew_does_not_wait_for_the_thread_that_waits():
    """Ctrl-C can come while the main thread leaves its task; Python would never end."""
    crew = Crew()
    crew.__enter__()
    crew.dismiss()
    atexit.unregister(crew.wait)
    crew.wait()


def test_a_search_ends_when_its_crew_is_dismissed():
    """Its report is where it learns of Ctrl-C."""
    crew = Crew()
    crew(0.5, 0.1, 3)
    crew.dismiss()
    atexit.unregister(crew.wait)
    with pytest.raises(Dismissed):
        crew(0.6, 0.1, 3)


def test_probabilities_are_those_of_the_fit():
    """Settings that are changed without a fit change no prediction, and a file says what the model was fitted with."""
    model = ez.L0Classifier(k=1).fit(X, PETS)
    before = model.predict_proba(X)
    model.set_params(loss="hinge")
    np.testing.assert_array_equal(model.predict_proba(X), before)
    hinge = ez.L0Classifier("hinge", k=1).fit(X, PETS).set_params(probability=True)
    assert not hasattr(hinge, "predict_proba")


def test_a_file_says_what_the_model_was_fitted_with(tmp_path):
    model = ez.L0Classifier(k=1, lambda_2=0.5).fit(X, PETS).set_params(loss="hinge", lambda_2=7.0, k=3)
    model.save(tmp_path / "model.json")
    loaded = ez.load(tmp_path / "model.json")
    assert (loaded.loss, loaded.lambda_2, loaded.k) == ("logistic", 0.5, 1)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    before = content(loaded)
    assert after_failure(loaded, X[:, :2], WORDS, loss="hinge", tol=7) == before


def test_copies_of_an_estimator_after_a_failed_fit():
    model = ez.L0Classifier("hinge", k=1, probability=True).fit(NAMED, PETS)
    before = content(model)
    after_failure(model, OTHER, WORDS, loss="logistic", lambda_2=-1.0)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert content(other) == before
        refitted = other.set_params(lambda_2=0.1, probability=False).fit(OTHER, WORDS)
        assert content(refitted) == content(clone(refitted).fit(OTHER, WORDS))
    assert content(model) == before
    assert not [name for name in vars(clone(model)) if name.endswith("_")]


def test_attributes_that_are_not_of_a_fit_stay():
    class Noted(ez.L0Classifier):
        def fit(self, X, y):
            self.rows_ = len(y)
            return super().fit(X, y)

    model = Noted(k=1).fit(X, PETS)
    model.remark = "mine"
    model.fit(X[:20], PETS[:20])
    assert (model.rows_, model.remark) == (20, "mine")
