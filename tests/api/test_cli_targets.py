"""What commands make of targets and of columns that are no features: nothing is guessed without being said."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import cross_val_score
from support.command_line import species, table

import ellzero as ez


@pytest.fixture
def scores(tmp_path):
    """Numbers as a target: 30 different ones in 120 rows."""
    frame = table().drop(columns="label")
    frame.assign(score=np.arange(120) % 30).to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


@pytest.mark.filterwarnings("always")
def test_many_whole_numbers_are_not_taken_for_classes(run, scores):
    argv = ["fit", scores, "--target", "score", "--k", "1"]
    assert run.error(*argv) == (
        "target 'score' has 30 different whole numbers in 120 rows (0, 1, 2, ...); add --regression to predict a number, or "
        "--classes if each value is a class."
    )
    assert run.json(*argv, "--regression")["classes"] is None
    assert len(run.json(*argv, "--classes")["classes"]) == 30
    assert "not allowed with argument --classes" in run.error(*argv, "--classes", "--regression")


def test_estimators_say_what_predicts_numbers():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    with pytest.raises(ez.InvalidInputError, match=r"Unknown label type: y has 60 different numbers.*L0Regressor"):
        ez.L0Classifier(k=1).fit(X, X[:, 0])
    for estimator in (ez.L0Classifier(k=1), ez.L0ClassifierCV(), ez.L0Selector(k=1)):
        with pytest.raises(ez.InvalidInputError, match=r"y has 30 different numbers in 60 rows; L0Regressor predicts numbers"):
            estimator.fit(X, np.arange(60) % 30)
    ez.L0Classifier(k=1).fit(np.tile(X, (4, 1)), np.arange(240) % 24)  # ten rows of each
    ez.L0Classifier(k=1).fit(X, np.array([f"n{j % 30:02d}" for j in range(60)]))  # text is never a number


@pytest.mark.filterwarnings("always")
def test_a_column_that_looks_like_an_identifier_is_named(run, tmp_path):
    frame = table()
    frame.insert(0, "visit", np.arange(120) + 1000)
    frame.insert(1, "age", np.arange(120) % 60)  # whole numbers, but some are the same
    frame.to_csv(tmp_path / "data.csv", index=False)
    argv = ["fit", tmp_path / "data.csv", "--target", "label", "--k", "2", "--quiet"]
    code, _, err = run(*argv)
    assert code == 0
    assert err == (
        "ellzero: warning: column 'visit' holds a different whole number in each of the 120 rows, as identifiers do; if "
        "it is no measurement, add --ignore visit.\n"
    )
    assert run(*argv, "--ignore", "visit")[2] == ""
    page = tmp_path / "page.html"
    assert run("report", *argv[1:4], "--time-limit", "0", "--out", page)[0] == 0
    assert "Column visit holds a different whole number in every row" in page.read_text()


def test_rows_without_a_target_are_left_out_when_asked(run, tmp_path):
    frame = table()
    frame.loc[[3, 5, 9], "label"] = None
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.dropna().to_csv(tmp_path / "rest.csv", index=False)
    argv = ["--target", "label", "--k", "2"]
    assert run.error("fit", tmp_path / "data.csv", *argv).endswith("leave them out with --drop-unlabelled.")
    for command in ("fit", "certify"):
        kept = run.json(command, tmp_path / "data.csv", *argv, "--drop-unlabelled")
        assert kept["objective"] == run.json(command, tmp_path / "rest.csv", *argv)["objective"]
    assert "3 of 120 rows have no target and are left out" in run("fit", tmp_path / "data.csv", *argv, "--drop-unlabelled")[2]
    page = tmp_path / "page.html"
    run.ok("report", tmp_path / "data.csv", *argv[:2], "--drop-unlabelled", "--time-limit", "0", "--out", page)
    assert "3 rows without a target are left out." in page.read_text()
    assert "--drop-unlabelled" in page.read_text()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_rows_of_a_matrix_without_a_target(run, tmp_path, form):
    X, y, _ = ez.datasets.make_classification(60, 5, 2, s=2.0, random_state=0)
    y = y.astype(float)
    y[[2, 7]] = np.nan
    np.save(tmp_path / "y.npy", y)
    if form is np.asarray:
        np.savez(tmp_path / "data.npz", X=X)
    else:
        sparse.save_npz(tmp_path / "data.npz", form(X))
    argv = ["fit", tmp_path / "data.npz", "--target", tmp_path / "y.npy", "--k", "2"]
    assert "is missing in 2 of 60 rows" in run.error(*argv)
    assert run.json(*argv, "--drop-unlabelled")["rows"] == 58


def test_all_bad_columns_are_named_in_one_run(run, tmp_path):
    frame = table()
    frame.insert(0, "town", "Rome")
    frame.insert(1, "note", [f"text {row}" for row in range(120)])
    frame.insert(2, "nothing", np.nan)
    frame.loc[3, "a"] = np.nan
    frame.loc[4, "c"] = np.nan
    frame.loc[5, "b"] = np.inf
    frame["d"] = frame["d"].astype(object)
    frame.loc[6, "d"] = "?"
    frame.to_csv(tmp_path / "data.csv", index=False)
    strict = ["--impute", "none", "--no-one-hot", "--categorical", "note"]
    said = run.error("fit", tmp_path / "data.csv", "--target", "label", "--k", "1", *strict)
    for part in (
        "column 'town' holds text; leave out with --drop",
        "column 'note' has 120 different values in 120 rows (such as 'text 0'), too many for categories",
        "column 'd' holds numbers and, in 1 of 120 rows, '?'; if that means a missing value, add --missing='?'",
        "column 'b' in ",
        "infinite values; leave out with --drop, or read them as missing with --missing inf",
        "columns 'a' and 'c' have missing values; leave out --impute none to fill them",
    ):
        assert part in said
    remedy = ["--missing", "inf,?"]
    run.ok("fit", tmp_path / "data.csv", "--target", "label", "--k", "1", *remedy)


def test_all_bad_columns_of_a_frame_are_named():
    frame = table()
    y = frame.pop("label")
    frame["town"], frame["when"] = "Rome", pd.Timestamp("2024-01-01")
    frame.loc[3, "a"], frame.loc[4, "c"], frame.loc[5, "b"] = np.nan, np.nan, np.inf
    expected = (
        "X must hold real numbers, got 'Rome' in column 'town', Timestamp('2024-01-01 00:00:00') in column 'when'; X contains "
        "NaN in columns 'a' and 'c', infinity in column 'b'; code text (OneHotEncoder), fill gaps (SimpleImputer), or drop "
        "these columns."
    )
    for fit in (ez.fit_path, ez.L0Classifier(k=1).fit, ez.L0ClassifierCV().fit):
        with pytest.raises(ez.InvalidInputError) as caught:
            fit(frame, y)
        assert str(caught.value) == expected
    numbers = frame[list("abcdef")]
    with pytest.raises(ez.InvalidInputError, match=r"NaN or infinity \(columns 'a', 'b' and 'c'\)"):
        ez.fit_path(numbers, y)
    with pytest.raises(ez.InvalidInputError, match="X contains NaN in columns 'a' and 'c', infinity in column 'b'; fill"):
        ez.L0Classifier(k=1).fit(numbers, y)
    model = ez.L0Classifier(k=1).fit(table()[list("abcdef")], y)
    with pytest.raises(ez.InvalidInputError, match="X contains NaN in columns 'a' and 'c', infinity in column 'b'; fill"):
        model.predict(numbers)
    with pytest.raises(ez.InvalidInputError, match=r"X contains NaN \(column 1\)"):
        ez.L0Classifier(k=1).fit(sparse.csr_matrix([[1.0, np.nan], [0.0, 1.0]]), [0, 1])


def test_the_positive_class_is_the_users(run, data, tmp_path):
    argv = ["fit", data, "--target", "label", "--k", "2", "--out", tmp_path / "model.json"]
    yes, no = (run.json(*argv, "--positive", label) for label in ("yes", "no"))
    assert (yes["classes"], no["classes"]) == (["no", "yes"], ["yes", "no"])
    assert [part["label"] for part in no["outputs"]] == ["no"]
    for one, other in zip(yes["features"], no["features"], strict=True):
        assert one["name"] == other["name"]
        assert one["coefficient"] == pytest.approx(-other["coefficient"], rel=1e-6)
    assert "class no (positive coefficients make it likelier)" in run.ok(*argv, "--positive", "no")
    assert set(run.json("predict", tmp_path / "model.json", data)["predictions"]) == {"yes", "no"}
    assert (
        run.error(*argv, "--positive", "maybe") == "--positive maybe is not a label of target 'label'; its labels are no, yes."
    )
    assert "--positive is for classes" in run.error("fit", data, "--target", "a", "--regression", "--positive", "yes")


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
def test_scores_of_a_positive_class(run, data):
    argv = ["cv", data, "--target", "label", "--scoring", "f1", "--cv", "3", "--max-support", "3"]
    said = run.error(*argv)
    assert said == "--scoring='f1' asks which class is the positive one: --positive='yes' or --positive='no'."
    yes, no = (run.json(*argv, "--positive", label) for label in ("yes", "no"))
    assert yes["best_score"] != no["best_score"]
    frame = table()
    y = frame.pop("label")
    by_hand = ez.L0ClassifierCV(scoring="f1", cv=3, max_support=3, algorithm="cd").fit(frame, (y == "no").astype(int))
    assert no["best_score"] == pytest.approx(by_hand.best_score_)


def test_one_of_three_classes_against_the_rest(run, tmp_path):
    frame = species()
    frame.to_csv(tmp_path / "data.csv", index=False)
    argv = [tmp_path / "data.csv", "--target", "species", "--positive", "bee"]
    result = run.json("fit", *argv, "--k", "2", "--out", tmp_path / "model.json")
    assert result["classes"] == ["not bee", "bee"]
    assert set(run.json("predict", tmp_path / "model.json", tmp_path / "data.csv")["predictions"]) == {"bee", "not bee"}
    page = tmp_path / "page.html"
    run.ok("report", *argv, "--time-limit", "0", "--out", page)
    assert "--positive bee" in page.read_text()


def test_pos_label_of_estimators(tmp_path):
    frame = table()
    y = frame.pop("label").to_numpy()
    model = ez.L0Classifier(k=2, pos_label="no").fit(frame, y)
    assert model.classes_.tolist() == ["no", "yes"]
    other = ez.L0Classifier(k=2).fit(frame, y)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    np.testing.assert_array_equal(model.predict_proba(frame), other.predict_proba(frame))
    assert "no against yes (positive coefficients make no likelier)" in str(model)
    assert "of no against yes" in str(model.summary())
    turned = -other.to_frame().coefficient
    np.testing.assert_array_equal(model.to_frame().coefficient, turned)
    np.testing.assert_array_equal(model.summary().to_frame().coefficient, turned)
    model.save(tmp_path / "model.json")
    assert str(ez.load(tmp_path / "model.json")) == str(model)
    weighted = ez.L0Classifier(k=2, pos_label="no", class_weight={"no": 5.0}).fit(frame, y)
    assert (weighted.predict(frame) == "no").sum() > (model.predict(frame) == "no").sum()
    with pytest.raises(ez.InvalidInputError, match="pos_label must be a label of y, 'no' or 'yes', got 'maybe'"):
        ez.L0Classifier(pos_label="maybe").fit(frame, y)
    with pytest.raises(ez.InvalidInputError, match="pos_label is for two classes, y has 3"):
        ez.L0Classifier(pos_label="bee").fit(species().drop(columns="species"), species().species)


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
def test_scikit_learn_needs_classes_in_order():
    """Scorers, voting and calibration take the second of `classes_` for the positive one, whatever `pos_label` is."""
    X, y = load_breast_cancer(return_X_y=True)
    usual, turned = ez.L0Classifier(k=3), ez.L0Classifier(k=3, pos_label=0)
    for scoring in ("roc_auc", "f1", "neg_log_loss"):
        scores = [cross_val_score(model, X, y, scoring=scoring, cv=3) for model in (usual, turned)]
        np.testing.assert_allclose(*scores)
    for wrap in (lambda model: VotingClassifier([("a", model), ("b", usual)], voting="soft"), CalibratedClassifierCV):
        assert wrap(turned).fit(X, y).score(X, y) > 0.9
    settings = {"shrinkage": [1e-3], "scoring": "f1", "max_support": 3, "select": "size", "cv": 3}
    rated = ez.L0ClassifierCV(pos_label=0, **settings).fit(X, y)
    assert rated.best_score_ == pytest.approx(ez.L0ClassifierCV(**settings).fit(X, 1 - y).best_score_)
    assert rated.best_score_ != pytest.approx(ez.L0ClassifierCV(**settings).fit(X, y).best_score_)
