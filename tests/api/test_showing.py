"""Results as people see them: printed, in notebooks, as data frames, with the names of their features."""

from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ellzero as ez

EVIL = "<script>alert(1)</script>"
DATA = load_breast_cancer(as_frame=True)
X = DATA.data.rename(columns={"worst radius": EVIL})
Y = np.where(DATA.target == 0, "malignant", "benign")


class Reader(HTMLParser):
    """The tags and the text of HTML, whose tags must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text = set(), [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += f"{data}\n"


@pytest.fixture(scope="module")
def results():
    path = ez.fit_path(X, Y, lambda_2=1e-2, standardize=True, max_support=4)
    sizes = ez.fit_sizes(X, Y, range(3), lambda_2=1e-2, standardize=True)
    solution = ez.solve(X, Y, k=2, lambda_2=1e-2, standardize=True)
    scores = ez.L0ClassifierCV(cv=3, rule="one_se").fit(X, Y).cv_results_
    return {
        "model": path.at_support(3),
        "path": path,
        "sizes": sizes,
        "grid": ez.fit_grid(X, Y, lambda_2=[0.1, 0.01], max_support=2),
        "solution": solution,
        "certificate": solution.certificate,
        "certified": ez.certify_path(sizes),
        "scores": scores,
        "stability": ez.stability_selection(X, Y, k=2, n_subsamples=4),
    }


NAMES = ["model", "path", "sizes", "grid", "solution", "certificate", "certified", "scores", "stability"]


@pytest.mark.parametrize("name", NAMES)
def test_tables_in_notebooks_and_frames(results, name):
    result = results[name]
    page = Reader(result._repr_html_())
    assert {"table", "tr", "td"} <= page.tags <= {"div", "p", "table", "thead", "tbody", "tr", "td", "th"}
    assert len(result.to_frame()) >= 1
    assert all(isinstance(column, str) for column in result.to_frame().columns)


def test_a_model_says_its_names_and_its_positive_class(results):
    model = results["model"]
    frame = model.to_frame()
    assert str(model).startswith("logistic model of malignant against benign with 3 of 30 features, intercept ")
    assert EVIL in Reader(model._repr_html_()).text
    assert frame.columns.tolist() == ["feature", "name", "coefficient", "per_sd"]
    assert frame.name.tolist() == [*X.columns[frame.feature[:-1]], "(intercept)"]
    spread = X.to_numpy()[:, frame.feature[:-1]].std(axis=0)
    np.testing.assert_allclose(frame.per_sd[:-1], frame.coefficient[:-1] * spread, rtol=1e-9)
    plain = ez.fit_path(X.to_numpy(), Y, lambda_2=1e-2, max_support=3).at_support(3).to_frame()  # not standardised
    spread = X.to_numpy()[:, plain.feature[:-1]].std(axis=0)
    np.testing.assert_allclose(plain.per_sd[:-1], plain.coefficient[:-1] * spread, rtol=1e-9)
    regression = ez.fit_path(X, DATA.target, loss="squared_error", max_support=2)[-1]
    assert str(regression).startswith("squared_error model with 2 of 30 features")


def test_estimators_print_their_coefficients(tmp_path):
    model = ez.L0Classifier(k=2)
    assert str(model) == repr(model) == "L0Classifier(k=2)"
    model.fit(X, Y)
    lines = str(model).splitlines()
    assert lines[0] == "L0Classifier: logistic model with 2 of 30 features"
    assert lines[1] == "malignant against benign (positive coefficients make malignant likelier)"
    assert lines[2].split()[0] == EVIL  # the largest effect of one standard deviation
    assert lines[3].split()[:-1] == ["worst", "concave", "points"]
    assert lines[-1].split()[0] == "(intercept)"
    assert repr(model) == "L0Classifier(k=2)"  # as scikit-learn prints it, also inside of pipelines
    assert "L0Classifier(k=2)" in repr(make_pipeline(StandardScaler(), model))
    model.save(tmp_path / "model.json")
    loaded = str(ez.load(tmp_path / "model.json")).splitlines()
    assert sorted(loaded) == sorted(lines)
    assert loaded[2].split()[:-1] == ["worst", "concave", "points"]  # a file knows coefficients only: the largest of these
    assert str(model.sparsify()) == "\n".join(lines)
    bundle = model._repr_mimebundle_()
    assert "positive coefficients make malignant likelier" in bundle["text/html"]
    assert EVIL not in bundle["text/html"]
    assert "worst concave points" in model._repr_html_()
    frame = model.to_frame()
    assert frame.name.tolist() == [EVIL, "worst concave points", "(intercept)"]
    np.testing.assert_array_equal(frame.coefficient[:-1], model.densify().coef_[0, frame.feature[:-1]])


def test_estimators_of_several_classes():
    kind = np.arange(len(Y)) % 3
    model = ez.L0Classifier(k=1, multi_class="ovr").fit(X, kind)
    assert str(model).count("against the rest") == 3
    frame = model.to_frame()
    assert frame["class"].drop_duplicates().tolist() == [0, 1, 2]
    regression = ez.L0Regressor(k=1).fit(X, DATA.target)
    assert str(regression).startswith("L0Regressor: squared_error model with 1 of 30 features\n  ")
    assert "class" not in regression.to_frame()
    wide = ez.L0Regressor(lambda_0=0.0).fit(np.random.default_rng(0).standard_normal((200, 90)), np.arange(200.0))
    assert len(str(wide).splitlines()) == 43
    assert "  ..." in str(wide)


def test_names_for_columns_that_have_none(tmp_path):
    texts = ["good film", "bad film", "good plot", "bad plot", "good bad film", "very good", "very bad"] * 10
    words = CountVectorizer()
    counts, y = words.fit_transform(texts), ["good" in text and "bad" not in text for text in texts]
    names = words.get_feature_names_out()
    path = ez.fit_path(counts, y, lambda_2=1e-3, max_support=2, feature_names=names)
    assert {"bad", "good"} == {path[-1].feature_name(j) for j in path[-1].support}
    assert {"bad", "good", "(intercept)"} == set(path[-1].to_frame().name)
    assert "bad" in str(ez.solve(counts, y, k=2, lambda_2=0.01, feature_names=names))
    assert "bad" in str(ez.fit_sizes(counts, y, [2], lambda_2=0.01, feature_names=names)[2])
    assert ez.fit_path(counts, y, lambda_2=1e-3, max_support=2, feature_names=names, unpenalized=["plot"]).support_size[0] == 0
    for estimator in (ez.L0Classifier(k=2, feature_names=names), ez.L0ClassifierCV(cv=3, rule="one_se", feature_names=names)):
        model = estimator.fit(counts, y)
        assert "bad" in str(model)
        assert not hasattr(model, "feature_names_in_")  # new data needs no names
        model.predict(counts)
        model.save(tmp_path / "model.json")
        again = ez.load(tmp_path / "model.json")
        assert sorted(str(again).splitlines()[1:]) == sorted(str(model).splitlines()[1:])
        np.testing.assert_array_equal(again.predict(counts), model.predict(counts))
    message = r"feature_names must have one name for each of the 5 columns of X, got 2"
    for fit in (lambda X: ez.fit_path(X, y, feature_names=["a", "b"]), ez.L0Classifier(k=1, feature_names=["a", "b"]).fit):
        with pytest.raises(ez.InvalidInputError, match=message):
            fit(counts) if fit.__name__ == "<lambda>" else fit(counts, y)
    with pytest.raises(ez.InvalidInputError, match="feature_names is for an X without names"):
        ez.fit_path(X, Y, feature_names=[f"f{j}" for j in range(30)])


def test_models_are_taken_wherever_coefficients_are():
    settings = {"lambda_2": 1e-2, "standardize": True}
    path = ez.fit_path(X, Y, loss="squared_hinge", lambda_0=[0.05, 0.02], **settings)
    model = path[1]
    value = ez.objective(X, Y, model.coef, model.intercept, loss="squared_hinge", lambda_0=0.02, **settings)
    assert ez.objective(X, Y, model, lambda_0=0.02, **settings) == value == pytest.approx(model.objective)
    assert ez.check_stationarity(X, Y, model, **settings)
    solution = ez.solve(X, Y, k=2, **settings)
    assert ez.objective(X, Y, solution, **settings) == pytest.approx(solution.objective)
    estimator = ez.L0Classifier(k=2, lambda_2=1e-2).fit(X, Y)
    assert ez.objective(X, Y, estimator, **settings) == pytest.approx(estimator.objective_)
    assert ez.check_stationarity(X, Y, estimator, lambda_0=1e-3, **settings).objective > estimator.objective_
    for start in (solution, estimator, solution.model):
        better = ez.improve(X, Y, start, swap_size=1, lambda_0=0.02, **settings)
        assert better.objective <= ez.objective(X, Y, start, lambda_0=0.02, **settings) * (1.0 + 1e-9)
    several = ez.L0Classifier(k=1, multi_class="ovr").fit(X, np.arange(len(Y)) % 3)
    with pytest.raises(ez.InvalidInputError, match="coef must be one model, got an estimator of several classes"):
        ez.objective(X, Y, several)


def test_models_score_as_estimators_do():
    weight = np.random.default_rng(0).uniform(0.0, 2.0, len(Y))
    for y, loss, estimator in ((Y, "logistic", ez.L0Classifier), (DATA.target, "squared_error", ez.L0Regressor)):
        model = ez.fit_path(X, y, loss=loss, lambda_2=1e-3, standardize=True, max_support=3).at_support(3)
        fitted = estimator(k=3).fit(X, y)
        fitted.coef_, fitted.intercept_ = np.atleast_2d(model.coef), np.array([model.intercept])
        if loss == "squared_error":
            fitted.coef_, fitted.intercept_ = model.coef, model.intercept
        assert model.score(X, y) == pytest.approx(fitted.score(X, y))
        assert model.score(X, y, weight) == pytest.approx(fitted.score(X, y, weight))
        with pytest.raises(ez.InvalidInputError, match="y must have shape"):
            model.score(X, y[:5])


def test_summaries_have_the_figures_of_statsmodels():
    """Without shrinkage: against figures computed here, and statsmodels' definitions."""
    model = ez.L0Classifier(k=3, lambda_2=0.0, bound=None).fit(X, Y)
    p = model.predict_proba(X)[np.arange(len(Y)), (Y == "malignant").astype(int)]
    log_likelihood, positive = np.log(p).sum(), np.mean(Y == "malignant")
    null = len(Y) * (positive * np.log(positive) + (1 - positive) * np.log(1 - positive))
    found = model.summary().statistics
    assert (found.rows, found.coefficients) == (569, 4)
    assert found.log_likelihood == pytest.approx(log_likelihood, rel=1e-8)
    assert found.explained == pytest.approx(1 - log_likelihood / null)
    assert found.aic == pytest.approx(8 - 2 * log_likelihood)
    assert found.bic == pytest.approx(4 * np.log(569) - 2 * log_likelihood)
    assert f"n = 569, log-likelihood = {log_likelihood:.5g}, pseudo-R2 = " in str(model.summary())
    assert ez.L0Classifier(k=3, lambda_2=0.0).fit(X, Y, np.full(569, 2.0)).summary().statistics.rows == 1138
    y = X.to_numpy()[:, 0] + np.random.default_rng(0).standard_normal(len(X))
    numbers = ez.L0Regressor(k=2, lambda_2=0.0).fit(X, y)
    residual = y - numbers.predict(X)
    found = numbers.summary().statistics
    variance = np.mean(residual**2)
    assert found.log_likelihood == pytest.approx(-0.5 * 569 * (np.log(2 * np.pi * variance) + 1))
    assert found.explained == pytest.approx(1 - variance / y.var())
    assert "log-likelihood" not in str(ez.L0Classifier("hinge", k=2).fit(X, Y).summary())
    several = ez.L0Classifier(k=2).fit(X, np.arange(len(Y)) % 3).summary().statistics
    assert several.coefficients == 6  # of two of three classes: only differences matter


def test_models_are_sorted_by_effect():
    model = ez.L0Classifier(k=4).fit(X, Y)
    per_sd = model.summary().to_frame().per_sd[:-1].abs()
    assert per_sd.is_monotonic_decreasing
    assert model.to_frame().name.tolist() == model.summary().to_frame().name.tolist()
    path = ez.fit_path(X, Y, lambda_2=1e-3, standardize=True, max_support=4).at_support(4)
    assert path.to_frame().per_sd[:-1].abs().is_monotonic_decreasing


@pytest.mark.parametrize("kind", ["two", "three", "numbers", "groups"])
def test_what_moves_one_prediction(kind, tmp_path):
    row = X.iloc[3]
    if kind == "numbers":
        model, score = (m := ez.L0Regressor(k=3).fit(X, X["mean area"] / 100)), m.predict(X.iloc[[3]])
    elif kind == "groups":
        groups = [f"g{j // 3}" for j in range(30)]
        model, score = (m := ez.L0Classifier(k=2, groups=groups).fit(X, Y)), m.decision_function(X.iloc[[3]])
    else:
        y = Y if kind == "two" else np.digitize(X["mean area"], [400, 700])
        model, score = (m := ez.L0Classifier(k=3).fit(X, y)), np.ravel(m.decision_function(X.iloc[[3]]))
    found = model.explain(row)
    for part, wanted in zip(found.parts, score, strict=True):
        assert part.score == pytest.approx(wanted)
        assert part.base + part.amounts.sum() == pytest.approx(wanted)
        assert (np.diff(np.abs(part.amounts)) <= 0.0).all()
        assert len(part.names) == (2 if kind == "groups" else 3)
    first = found.parts[0]
    if kind in ("two", "numbers"):
        j = X.columns.get_loc(first.names[0]) if first.names[0] in X else list(X.columns).index(EVIL)
        coef = np.ravel(model.coef_)[j]
        assert first.amounts[0] == pytest.approx(coef * (row.iloc[j] - X.iloc[:, j].mean()))
    for same in (row.to_numpy(), dict(row), X.iloc[[3]], row.to_numpy()[None, :]):
        assert str(model.explain(same)) == str(found)
    assert model.explain(row, reference=row).parts[0].amounts.tolist() == [0.0] * len(first.names)
    if kind in ("two", "three"):
        shares = model.predict_proba(X.iloc[[3]])[0]
        assert found.probabilities == pytest.approx(shares[1:] if kind == "two" else shares)
    assert EVIL not in found._repr_html_()
    assert len(found.to_frame()) == len(found.parts) * len(first.names)
    assert "█" in str(found)
    model.save(tmp_path / "model.json")
    loaded = ez.load(tmp_path / "model.json")
    with pytest.raises(ez.InvalidInputError, match="reference must be a row: a model from a file"):
        loaded.explain(row)
    assert loaded.explain(row, reference=X.mean()).parts[0].score == pytest.approx(first.score)
    with pytest.raises(ez.InvalidInputError, match="row must be one row of 30 values, got 4"):
        model.explain([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(ez.InvalidInputError, match="row lacks"):
        model.explain({"mean radius": 1.0})


def test_the_positive_label_turns_an_explanation_around():
    one, other = (ez.L0Classifier(k=2, pos_label=label).fit(X, Y).explain(X.iloc[0]) for label in ("malignant", "benign"))
    np.testing.assert_allclose(one.parts[0].amounts, -other.parts[0].amounts)
    assert one.probabilities[0] == pytest.approx(1 - other.probabilities[0])


def test_summaries_for_readers(tmp_path):
    model = ez.L0Classifier(k=2).fit(X, Y)
    frame = model.summary().to_frame()
    spread = X.to_numpy()[:, model.to_frame().feature[:-1]].std(axis=0)
    np.testing.assert_allclose(frame.per_sd[:-1], frame.coefficient[:-1] * spread, rtol=1e-9)
    np.testing.assert_allclose(frame.odds_ratio_per_sd[:-1], np.exp(frame.per_sd[:-1]))
    text = str(model.summary())
    assert text.startswith("L0Classifier: logistic model of malignant against benign with 2 of 30 features\nn = 569, ")
    assert "No standard errors or p-values" in text
    assert "ez.inference(X, y, k=2)" in text
    page = Reader(model.summary()._repr_html_())
    assert EVIL in page.text
    model.save(tmp_path / "model.json")
    assert ez.load(tmp_path / "model.json").summary().to_frame().per_sd.isna().all()  # the file does not know
    assert "odds" not in str(ez.L0Regressor(k=2).fit(X, DATA.target).summary())
    assert "odds" not in str(ez.L0Classifier("hinge", k=2).fit(X, Y).summary())
    several = ez.L0Classifier(k=1, multi_class="ovr").fit(X, np.arange(len(Y)) % 3).summary()
    assert str(several).count("against the rest") == 3
    assert several.to_frame()["class"].nunique() == 3
    path = ez.fit_path(X, Y, lambda_2=1e-3, standardize=True, max_support=2)
    assert str(path.at_support(2).summary()).startswith("logistic model of malignant against benign with 2 of 30 features")
