"""Raw columns as questions: names, cuts, text, missing values, monotone bounds, every distinct value."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import ellzero as ez

FRAME = pd.DataFrame(
    {
        "age": [30.0, 48.0, 62.0, np.nan, 71.0, 55.0],
        "sex": ["f", "m", "m", "f", "f", "m"],
        "pain": pd.Categorical(["none", "some", None, "much", "some", "none"]),
        "smokes": [0, 1, 1, 0, 0, 1],
        "flag": [True, False, True, True, False, False],
        "constant": [3, 3, 3, 3, 3, 3],
    }
)


def test_names_and_answers():
    found = ez.Thresholds(cuts={"age": [60, 45]}).fit_transform(FRAME)
    assert found.to_dict("list") == {
        "age >= 45": [0, 1, 1, 0, 1, 1],
        "age >= 60": [0, 0, 1, 0, 1, 0],
        "age missing": [0, 0, 0, 1, 0, 0],
        "sex = m": [0, 1, 1, 0, 0, 1],
        "pain = much": [0, 0, 0, 1, 0, 0],
        "pain = none": [1, 0, 0, 0, 0, 1],
        "pain = some": [0, 1, 0, 0, 1, 0],
        "pain missing": [0, 0, 1, 0, 0, 0],
        "smokes": [0, 1, 1, 0, 0, 1],
        "flag": [1, 0, 1, 1, 0, 0],
    }
    assert found.index.equals(FRAME.index)


def test_new_rows_are_answered_by_the_questions_of_the_fit():
    cuts = ez.Thresholds(cuts={"age": [50]}).fit(FRAME)
    new = FRAME.iloc[:2].assign(age=[np.nan, 50.0], pain=["unknown", None], constant=[4, 5])
    found = cuts.transform(new)
    assert found["age >= 50"].tolist() == [0, 1]
    assert found["age missing"].tolist() == [1, 0]
    assert found.filter(like="pain =").to_numpy().sum() == 0
    assert found["pain missing"].tolist() == [0, 1]
    with pytest.raises(ValueError, match="feature names should match"):
        cuts.transform(new[["sex", "age", "pain", "smokes", "flag", "constant"]])


def test_cuts_are_quantiles_that_occur():
    values = np.concatenate([np.zeros(50), np.arange(1.0, 51.0)])
    names = ez.Thresholds(per=3).fit(values[:, None]).get_feature_names_out().tolist()
    assert names[0] == "x0 >= 1"  # half of the rows are at the least value
    assert len(names) == 3
    many = ez.Thresholds(per=4).fit(np.arange(100.0)[:, None])
    assert many.get_feature_names_out().tolist() == ["x0 >= 20", "x0 >= 40", "x0 >= 60", "x0 >= 80"]


def test_every_distinct_value_can_be_asked():
    X = np.random.default_rng(0).integers(0, 50, (300, 3)).astype(float)
    cuts = ez.Thresholds(per=None)
    found = cuts.fit_transform(X)
    assert found.shape[1] == sum(len(np.unique(column)) - 1 for column in X.T)
    assert found.dtype == np.uint8
    assert (found.sum(axis=1) == sum(np.searchsorted(np.unique(column), column) for column in X.T)).all()


def test_names_tell_close_cuts_apart():
    X = np.array([1.0, 1.0 + 1e-9, 1.0 + 2e-9, 1.0 + 3e-9])[:, None]
    names = ez.Thresholds(per=None).fit(X).get_feature_names_out()
    assert len(set(names)) == 3


def test_monotone_bounds_other_estimators():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(20, 90, 500), "dose": rng.integers(0, 10, 500)})
    y = rng.random(500) < 1 / (1 + np.exp(-0.1 * (X["age"] - 55) + 0.4 * np.sin(X["dose"])))
    cuts = ez.Thresholds(per=6, monotone={"age": "increasing", "dose": "decreasing"}).fit(X)
    assert set(zip(cuts.variables_, cuts.lower_, cuts.upper_, strict=True)) == {("age", 0.0, np.inf), ("dose", -np.inf, 0.0)}
    Q = cuts.transform(X)
    model = ez.L0Classifier(k=5, standardize=False, lower=cuts.lower_, upper=cuts.upper_).fit(Q, y)
    signs = np.where(np.array(cuts.variables_) == "age", 1.0, -1.0)
    assert (model.coef_[0] * signs >= 0.0).all()
    card = ez.RiskScore(k=4, lower=cuts.lower_, upper=cuts.upper_).fit(Q, y)
    assert (card.points_ * signs >= 0).all()
    assert card.status_ == "optimal"


def test_effects_are_steps():
    frame = pd.DataFrame({"age": [30.0, 48.0, 62.0, None, 71.0, 55.0] * 20, "sex": ["f", "m"] * 60})
    cuts = ez.Thresholds(cuts={"age": [45, 60, 70]}, monotone={"age": "increasing"}).fit(frame)
    rng = np.random.default_rng(0)
    y = (frame["age"] >= 60) ^ (rng.random(120) < 0.1)
    model = ez.L0Classifier(k=3, lambda_2=1e-3, standardize=False, lower=cuts.lower_).fit(cuts.transform(frame), y)
    (age,) = cuts.shapes(model)
    assert age.name == "age"
    assert age.cuts.tolist() == [45.0, 60.0, 70.0]
    assert age.effects == pytest.approx(np.cumsum(model.coef_[0][:3]))
    assert (np.diff(age.effects, prepend=0.0) >= 0.0).all()
    assert age.missing == model.coef_[0][3]
    figure = cuts.plot(model)
    assert figure.axes[0].get_title() == "age"
    assert figure.axes[0].lines[0].get_ydata()[-1] == age.effects[-1]
    card = ez.RiskScore(k=2).fit(cuts.transform(frame), y)
    assert cuts.shapes(card)[0].effects[-1] == card.points_[:3].sum()
    assert cuts.plot(card).axes[0].get_ylabel() == "points"
    plt.close("all")
    with pytest.raises(ez.InvalidInputError, match="a coefficient for each of"):
        cuts.shapes(ez.L0Classifier(k=1).fit(cuts.transform(frame).iloc[:, :2], y))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"per": 0}, "per must be an integer of at least 1"),
        ({"cuts": {"weight": [3]}}, "cuts names 'weight', which is not a column of X"),
        ({"cuts": {"sex": [3]}}, "cuts names 'sex', which is not a column of numbers"),
        ({"cuts": {"age": [np.nan]}}, "cuts of 'age' must be finite"),
        ({"monotone": {"age": "up"}}, "monotone must say 'increasing' or 'decreasing', got 'up'"),
        ({"monotone": {"sex": "increasing"}}, "monotone names 'sex', which is not a column of numbers"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ez.InvalidInputError, match=message):
        ez.Thresholds(**settings).fit(FRAME)


def test_bad_tables_are_refused():
    with pytest.raises(ez.InvalidInputError, match="infinite"):
        ez.Thresholds().fit(np.array([[1.0], [np.inf]]))
    with pytest.raises(ez.InvalidInputError, match="constant"):
        ez.Thresholds().fit(np.ones((5, 2)))
