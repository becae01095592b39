"""Groups as users give them: labels, names, the columns of encoders; what is refused, and what is shown."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from support.command_line import people

import ellzero as ez
from ellzero.problem.grouping import as_groups

SEED = 5


def encoder(**how):
    coded = make_column_transformer(
        (OneHotEncoder(sparse_output=False, **how), ["eye_colour", "town"]), remainder="passthrough"
    )
    return coded.set_output(transform="pandas")


@pytest.mark.parametrize("how", [{}, {"drop": "first"}], ids=["all levels", "without the first"])
def test_one_hot_columns_are_found_by_their_names_and_values(how):
    frame, _ = people()
    coded = encoder(**how).fit_transform(frame)
    towns = [f"onehotencoder__town_{c}" for c in ("bcde" if how else "abcde")]
    found = as_groups("auto", coded.shape[1], coded.columns.tolist(), lambda js: coded.to_numpy().T[js])
    assert [coded.columns[j] for j in found.columns("onehotencoder__town")] == towns
    assert [coded.columns[j].rsplit("_", 1)[-1] for j in found.columns("onehotencoder__eye_colour")] == ["blue", "grey", "red"][
        how != {} :
    ]
    assert found.names[-2:] == ("remainder__size", "remainder__noise")


def test_names_alone_group_nothing():
    rng = np.random.default_rng(SEED)
    values = np.column_stack([rng.integers(0, 2, 50), rng.integers(0, 2, 50), rng.standard_normal((50, 2))]).astype(float)
    values[0, :2] = 1.0  # a row with both
    names = ["lag_1", "lag_2", "dose_low", "dose_high"]
    assert as_groups("auto", 4, names, lambda js: values.T[js]) is None


def test_a_pipeline_counts_variables():
    frame, y = people()
    pipe = make_pipeline(encoder(), ez.L0Classifier(k=2, groups="auto")).fit(frame, y)
    model = pipe[-1]
    names = model.feature_names_in_[model.support_].tolist()
    assert names == [*(f"onehotencoder__eye_colour_{c}" for c in ("dark_blue", "dark_grey", "red")), "remainder__size"]
    assert model.spent_ == 2.0
    assert pipe.score(frame, y) > 0.85
    assert clone(pipe).get_params()["l0classifier__groups"] == "auto"


def test_cross_validation_counts_variables():
    frame, y = people()
    coded = encoder().fit_transform(frame)
    model = ez.L0ClassifierCV(groups="auto", select="size", max_support=4, cv=3).fit(coded, y)
    assert model.k_ <= 4
    assert {"onehotencoder__eye_colour_red", "remainder__size"} <= set(model.feature_names_in_[model.support_])


def test_labels_by_column_by_name_and_with_columns_on_their_own():
    frame, y = people()
    coded = encoder().fit_transform(frame)
    by_name = {"eyes": list(coded.columns[:3]), "town": list(coded.columns[3:8])}
    labels = ["eyes"] * 3 + ["town"] * 5 + [None, np.nan]
    settings = {"lambda_2": 1e-3, "standardize": True}
    one, two, three = (ez.fit_sizes(coded, y, [2], groups=groups, **settings)[2] for groups in (by_name, labels, "auto"))
    assert one.cost == two.cost == three.cost
    assert one.size == 2
    assert set(one.used_groups) == {"eyes", "remainder__size"}
    assert "2 features of 4 columns" in repr(one)
    assert pd.isna(one.to_frame()["group"].iloc[-1])
    assert "2 features of 4 columns" in one._repr_html_()


def test_costs_by_the_name_of_a_group():
    frame, y = people()
    coded = encoder().fit_transform(frame)
    settings = {"lambda_2": 1e-3, "standardize": True, "groups": "auto"}
    dear = ez.fit_path(coded, y, lambda_0=0.02, feature_cost={"onehotencoder__eye_colour": 1e3}, **settings)[0]
    assert "onehotencoder__eye_colour" not in dear.used_groups
    within = ez.fit_budgets(coded, y, [3.0], feature_cost={"onehotencoder__eye_colour": 2.5}, **settings)
    assert within[3.0].spent <= 3.0


REFUSED = {
    "too few": ({"groups": ["a", "b"]}, "groups must hold a label for each of the 4 columns of X, got 2"),
    "a word": ({"groups": "town"}, "groups must be 'auto' or hold a label"),
    "a number": ({"groups": 3}, "groups must hold a label for each of the 4 columns of X, got int"),
    "lists": ({"groups": [[1], [1], [2], [2]]}, "groups must hold labels such as words or numbers, got list"),
    "overlap": ({"groups": {"a": [0, 1], "b": [1, 2]}}, "groups must not overlap"),
    "no column": ({"groups": {"a": [0, 9]}}, "which is not a column of X"),
    "empty": ({"groups": {"a": []}}, "groups\\['a'\\] has no columns"),
    "auto without names": ({"groups": "auto"}, "groups='auto' needs the names of columns"),
    "unequal costs": ({"groups": [0, 0, 1, 1], "feature_cost": [1.0, 2.0, 1.0, 1.0]}, "feature_cost must be the same"),
    "half free": ({"groups": [0, 0, 1, 1], "unpenalized": [0]}, "unpenalized must be the same"),
    "exact swaps": (
        {"groups": [0, 0, 1, 1], "algorithm": "local_search", "swaps": "exhaustive"},
        "with groups, use swaps='ranked'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    rng = np.random.default_rng(SEED)
    X, (settings, words) = rng.standard_normal((30, 4)), REFUSED[case]
    with pytest.raises(ez.InvalidInputError, match=words):
        ez.fit_path(X, np.sign(X[:, 0]), **settings)


def test_information_criteria_count_coefficients():
    """Two models of one group: that of more columns pays more."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((200, 12))
    y = X[:, 0] + 0.5 * rng.standard_normal(200) > 0.0
    labels = [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    model = ez.L0Classifier(groups=labels, criterion="bic").fit(X, y)
    assert model.support_.tolist() == [0]


def test_bins_are_ranges_of_a_column_and_come_together():
    rng = np.random.default_rng(SEED)
    X = pd.DataFrame({"age": rng.uniform(20.0, 80.0, 400), "noise": rng.standard_normal(400)}, index=range(7, 407))
    X.loc[10:20, "age"] = np.nan
    coded = ez.bins(X, 5)
    assert coded.index.equals(X.index)
    assert [name.split("=")[0] for name in coded] == ["age"] * 6 + ["noise"] * 5
    assert (coded.iloc[:, :6].sum(axis=1) == 1.0).all()
    counts = coded.iloc[:, :5].sum()
    assert counts.max() - counts.min() <= 2
    y = (X["age"].fillna(50.0) - 50.0).abs() > 15.0  # the middle against both ends: no line tells them apart
    model = ez.L0Classifier(k=1, groups="auto").fit(coded, y)
    assert {model.groups_[j] for j in model.support_} == {"age"}
    assert model.score(coded, y) > 0.8
    again = ez.bins(X.head(3), 5, like=X)
    pd.testing.assert_frame_equal(again, coded.head(3))
    figure = ez.plot_groups(model)
    assert [ax.get_title() for ax in figure.axes if ax.get_visible()] == ["age"]
    assert len(figure.axes[0].patches) == 6


BAD_BINS = {
    "text": (pd.DataFrame({"a": ["x", "y"]}), {}, "X must hold numbers only"),
    "one bin": (np.ones((3, 1)), {"n_bins": 1}, "n_bins must be"),
    "a vector": (np.ones(3), {}, "X must have two dimensions"),
    "infinite": (np.array([[np.inf]]), {}, "X must not hold infinite values"),
    "other columns": (np.ones((3, 1)), {"like": np.ones((3, 2))}, "like must have the columns of X"),
}


@pytest.mark.parametrize("case", BAD_BINS)
def test_bins_that_are_refused(case):
    X, settings, words = BAD_BINS[case]
    with pytest.raises(ez.InvalidInputError, match=words):
        ez.bins(X, **settings)


def test_bins_of_few_values_and_of_none():
    assert ez.bins(np.array([[1.0], [1.0], [2.0]]), 8).columns.tolist() == ["x0=[-inf, 2)", "x0=[2, inf)"]
    assert ez.bins(np.full((3, 1), np.nan)).columns.tolist() == ["x0=[-inf, inf)", "x0=missing"]
    assert ez.bins(np.full((3, 1), 4.0)).columns.tolist() == ["x0=[-inf, inf)"]


def test_models_without_groups_have_none_to_draw():
    X, y, _ = ez.datasets.make_classification(60, 5, 2, random_state=0)
    with pytest.raises(ez.InvalidInputError, match="model must be fitted with groups"):
        ez.plot_groups(ez.fit_path(X, y)[1])


def test_model_files_name_the_groups(tmp_path):
    frame, y = people()
    coded = encoder().fit_transform(frame)
    cost = {"onehotencoder__eye_colour": 2.0}
    model = ez.L0Classifier(k=2, groups="auto", feature_cost=cost).fit(coded, y)
    model.save(tmp_path / "model.json")
    again = ez.load(tmp_path / "model.json")
    assert again.groups_ == model.groups_
    assert again.spent_ == model.spent_
    np.testing.assert_array_equal(again.predict(coded), model.predict(coded))


def test_groups_on_an_x_that_is_not_in_memory(tmp_path):
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((80, 40))
    y, labels = X[:, 0] + X[:, 21] > 0.0, np.arange(40) % 13
    with ez.ColumnWriter(tmp_path / "x.columns", 80, 40, dtype="float64") as writer:
        writer.append(X)
    settings = {"groups": labels, "lambda_2": 1e-2, "standardize": True, "algorithm": "local_search"}
    inside, outside = (ez.fit_path(data, y, max_support=5, **settings) for data in (X, ez.open_columns(tmp_path / "x.columns")))
    np.testing.assert_array_equal(inside.coef.toarray(), outside.coef.toarray())
