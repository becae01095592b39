"""Costs of features as users give them: checks, frames, estimators, files, the report and the command line."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import ellzero as ez

NAMES = ["age", "scan", "blood", "weight", "height", "dose"]
rng = np.random.default_rng(4)
X = pd.DataFrame(rng.normal(size=(80, 6)), columns=NAMES)
SIGNAL = 1.5 * X["scan"] + 1.2 * X["blood"] + X["weight"] + 0.7 * X["height"] + 0.5 * rng.normal(size=80)
Y = np.where(SIGNAL > 0.0, "ill", "well")
COST = {"scan": 5.0, "blood": 2.0}
ALL = np.array([1.0, 5.0, 2.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("cost", "sentence"),
    [
        ([1.0, 2.0], "feature_cost must have shape (6,), got (2,)."),
        ([1.0, -2.0, 1.0, 1.0, 1.0, 1.0], "feature_cost must not be negative, got -2."),
        ([1.0, np.nan, 1.0, 1.0, 1.0, 1.0], "feature_cost contains NaN or infinity."),
        ([1.0, 1e-7, 1.0, 1.0, 1.0, 1.0], "feature_cost must be zero or at least 1e-06 of the largest cost"),
        ([1e-200] * 6, "feature_cost must be zero or at least 1e-06 of the largest cost, and between 1e-100 and 1e+100"),
        ("dear", "feature_cost must hold real numbers."),
        ({"scans": 1.0}, "feature_cost names 'scans', which is not a column of X."),
        ({"scan": -1.0}, "feature_cost['scan'] must be finite and not negative, got -1.0."),
        ({"scan": "dear"}, "feature_cost['scan'] must be a number, got 'dear'."),
        ({7: 1.0}, "feature_cost names 7, which is not a column of X."),
    ],
)
def test_bad_costs_are_refused_in_one_sentence(cost, sentence):
    for call in (
        lambda: ez.fit_path(X, Y, feature_cost=cost),
        lambda: ez.solve(X, Y, k=1, lambda_2=0.1, feature_cost=cost),
        lambda: ez.L0Classifier(k=1, feature_cost=cost).fit(X, Y),
    ):
        with pytest.raises(ez.InvalidInputError) as refused:
            call()
        assert sentence in str(refused.value)
        assert "\n" not in str(refused.value)


def test_names_of_several_columns_are_refused():
    twice = pd.DataFrame(X.to_numpy(), columns=["a", "a", "b", "c", "d", "e"])
    with pytest.raises(ez.InvalidInputError, match="'a', which several columns of X are called"):
        ez.fit_path(twice, Y, feature_cost={"a": 2.0})


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ({"budget": 0.5}, "budget must be at least 1, the cost of the cheapest feature, got 0.5."),
        ({"budget": -1.0}, "budget must be finite and not negative, got -1.0."),
        ({"budget": "much"}, "budget must be a number, got 'much'."),
        ({"budget": 3.0, "k": 2}, "k and budget cannot both be given"),
        ({}, "lambda_0, k or budget must be given."),
    ],
)
def test_bad_budgets_are_refused_in_one_sentence(limit, sentence):
    with pytest.raises(ez.InvalidInputError) as refused:
        ez.solve(X, Y, lambda_2=0.1, feature_cost=COST, **limit)
    assert sentence in str(refused.value)
    if limit:
        with pytest.raises(ez.InvalidInputError, match=sentence.split(",", maxsplit=1)[0].split(":")[0]):
            ez.L0Classifier(feature_cost=COST, **limit).fit(X, Y)


def test_bad_budgets_of_lists():
    with pytest.raises(ez.InvalidInputError, match="budgets must hold at least one number"):
        ez.fit_budgets(X, Y, [], feature_cost=COST)
    with pytest.raises(ez.InvalidInputError, match="budget must be at least 1, the cost of the cheapest feature"):
        ez.fit_budgets(X, Y, [0.1, 4], feature_cost=COST)
    with pytest.raises(ez.InvalidInputError, match="budgets are for algorithm='local_search'"):
        ez.fit_budgets(X, Y, [4], feature_cost=COST, algorithm="iht")
    with pytest.raises(KeyError, match=r"budget 5 was not requested"):
        ez.fit_budgets(X, Y, [4], feature_cost=COST)[5]


def test_costs_by_name_by_place_and_in_order_are_the_same():
    known = ez.fit_path(X, Y, feature_cost=ALL, lambda_2=0.01)
    for cost in (COST, pd.Series(COST), pd.Series(ALL, index=NAMES)[::-1], {1: 5.0, 2: 2.0}, ALL.tolist(), pd.Series(ALL)):
        np.testing.assert_array_equal(ez.fit_path(X, Y, feature_cost=cost, lambda_2=0.01).coef.toarray(), known.coef.toarray())
    np.testing.assert_array_equal(
        ez.fit_path(X.to_numpy(), Y, feature_cost=ALL, lambda_2=0.01).coef.toarray(), known.coef.toarray()
    )


def test_results_say_what_they_cost():
    path = ez.fit_path(X, Y, feature_cost=COST, lambda_2=0.01)
    for k, model in enumerate(path):
        assert path.spent[k] == model.spent == ALL[model.support].sum()
        assert model.objective == pytest.approx(model.cost + model.lambda_0 * model.spent)
        assert model.objective_at(0.5) == pytest.approx(model.cost + 0.5 * model.spent)
    assert path.to_frame()["spent"].tolist() == path.spent.tolist()
    assert "cost" in repr(path)
    assert "spent" not in ez.fit_path(X, Y).to_frame()
    assert (ez.fit_path(X, Y).spent == ez.fit_path(X, Y).support_size).all()
    models = ez.fit_budgets(X, Y, [2, 4.5, 4.5], feature_cost=COST, lambda_2=0.01)
    assert models.budgets.tolist() == [2.0, 4.5]
    assert (models.spent <= models.budgets).all()
    assert models.to_frame()["spent"].tolist() == models.spent.tolist() == [model.spent for model in models]
    assert "4.5" in repr(models)
    assert models.coef.shape == (2, 6)
    grid = ez.fit_grid(X, Y, feature_cost=COST, lambda_2=[0.1, 0.01], n_lambda=5)
    assert all(ALL[model.support].sum() == model.spent for path in grid.paths for model in path)


@pytest.mark.parametrize("algorithm", ["local_search", "cd", "exact"])
def test_estimators_keep_to_budgets(algorithm):
    model = ez.L0Classifier(budget=4, feature_cost=COST, algorithm=algorithm, lambda_2=0.01).fit(X, Y)
    assert model.spent_ == ALL[model.support_].sum() <= 4.0
    assert 1 not in model.support_, "the scan costs more than that"
    if algorithm == "exact":
        report = ez.verify(model.certificate_, X, Y, budget=4, feature_cost=COST, lambda_2=0.01, standardize=True)
        assert report.valid, report.reasons
    priced = ez.L0Classifier(lambda_0=0.02, feature_cost=COST, algorithm=algorithm, lambda_2=0.01).fit(X, Y)
    assert priced.objective_ == pytest.approx(
        ez.objective(
            X, Y, priced.coef_[0], priced.intercept_[0], lambda_0=0.02, lambda_2=0.01, feature_cost=COST, standardize=True
        )
    )
    regression = ez.L0Regressor(budget=4, feature_cost=ALL, algorithm=algorithm).fit(X, SIGNAL)
    assert regression.spent_ <= 4.0


def test_cross_validation_and_criteria_know_costs():
    dear = {"blood": 1000.0}
    chosen = ez.L0ClassifierCV(feature_cost=dear, n_shrinkage=2, cv=3, n_lambda=15, max_support=3).fit(X, Y)
    assert chosen.spent_ == (1000.0 if 2 in chosen.support_ else 0.0) + np.sum(chosen.support_ != 2)
    again = clone(chosen)
    assert again.feature_cost == dear
    assert pickle.loads(pickle.dumps(chosen)).feature_cost == dear
    by_criterion = ez.L0Classifier(feature_cost={"blood": 1e5}).fit(X, Y)
    assert 2 not in by_criterion.support_, "no path comes to it before all others are in"
    assert ez.L0RegressorCV(feature_cost=ALL, n_shrinkage=1, cv=3, n_lambda=10).fit(X, SIGNAL).spent_ > 0.0


def test_paths_are_certified_at_costs():
    proofs = ez.certify_path(ez.fit_path(X, Y, lambda_0=[0.05, 0.01, 0.002], lambda_2=0.01, feature_cost=COST))
    assert proofs.status == ["optimal"] * 3
    assert np.isinf(proofs.budget).all()
    assert "budget" not in proofs.to_frame()
    for proof in proofs:
        report = ez.verify(proof.certificate, X, Y, lambda_0=proof.model.lambda_0, lambda_2=0.01, feature_cost=COST)
        assert report.valid, report.reasons
        assert f"lambda_0 = {proof.model.lambda_0:g} times the cost of each feature" in report.problem[1]
        assert report.problem[2] == "features have costs, from 1 to 5"
    within = ez.solve(X, Y, budget=4, lambda_2=0.01, feature_cost=COST).certificate
    assert "features that cost at most 4 together" in ez.verify(within, X, Y).problem[1]


def test_stability_selection_takes_costs():
    chosen = ez.stability_selection(X, Y, k=2, feature_cost={"age": 0.0}, n_subsamples=10)
    assert chosen.frequency[0] == 1.0


def test_more_than_two_classes():
    labels = np.array(["a", "b", "c"])[np.digitize(SIGNAL, [-1.0, 1.0])]
    model = ez.L0Classifier(budget=3, feature_cost=COST, multi_class="ovr").fit(X, labels)
    assert all(ALL[np.flatnonzero(row)].sum() <= 3.0 for row in model.coef_)
    with pytest.raises(ez.InvalidInputError, match="feature_cost with multi_class='ovr' needs k, budget or lambda_0"):
        ez.L0Classifier(feature_cost=COST, multi_class="ovr").fit(X, labels)
    for multi_class in ("multinomial", "ovr_shared"):
        shared = ez.L0Classifier(budget=3, feature_cost=COST, multi_class=multi_class).fit(X, labels)
        assert shared.spent_ == pytest.approx(ALL[shared.support_].sum())
        assert 0.0 < shared.spent_ <= 3.0
        assert len(ez.L0Classifier(feature_cost=COST, multi_class=multi_class).fit(X, labels).support_) > 0


def test_model_files_keep_costs(tmp_path):
    model = ez.L0Classifier(budget=4, feature_cost=COST).fit(X, Y)
    model.save(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())
    assert content["feature_cost"] == ALL.tolist()
    assert content["penalties"]["budget"] == 4.0
    loaded = ez.load(tmp_path / "model.json")
    assert loaded.feature_cost == ALL.tolist()
    assert (loaded.budget, loaded.spent_) == (4.0, model.spent_)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    for wrong in ([1.0], "dear", [1.0, -1.0, 1.0, 1.0, 1.0, 1.0], [None] * 6):
        (tmp_path / "wrong.json").write_text(json.dumps({**content, "feature_cost": wrong}))
        with pytest.raises(ez.InvalidInputError, match="is malformed"):
            ez.load(tmp_path / "wrong.json")
    plain = ez.L0Classifier(k=2).fit(X, Y)
    plain.save(tmp_path / "plain.json")
    assert "feature_cost" not in json.loads((tmp_path / "plain.json").read_text())


def test_checkpoints_belong_to_their_costs(tmp_path):
    settings = {"lambda_2": 1e-3, "checkpoint": tmp_path / "search", "gap": 0.0, "feature_cost": ALL}
    ez.solve(X, Y, budget=6, node_limit=2, **settings)
    if not (tmp_path / "search").exists():
        pytest.skip("two nodes were enough")
    with pytest.raises(ez.InvalidInputError):
        ez.solve(X, Y, budget=7, **settings)
    with pytest.raises(ez.InvalidInputError):
        ez.solve(X, Y, budget=6, **{**settings, "feature_cost": ALL + 1.0})
    resumed = ez.solve(X, Y, budget=6, **settings)
    del settings["checkpoint"]
    assert resumed.objective == pytest.approx(ez.solve(X, Y, budget=6, **settings).objective)
    assert ez.verify(resumed.certificate, X, Y).valid


@pytest.fixture
def files(tmp_path):
    """A table, and the costs of two of its columns."""
    table = X.assign(label=Y)
    table.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "costs.csv").write_text("column,cost\nscan,5\nblood,2\n")
    return tmp_path


def test_the_command_line_takes_costs(files, run):
    data = [str(files / "data.csv"), "--target", "label", "--costs", str(files / "costs.csv")]
    fitted = run.json("fit", *data, "--budget", "4", "--out", str(files / "model.json"))
    assert fitted["total_cost"] == ALL[[NAMES.index(f["name"]) for f in fitted["features"]]].sum() <= 4.0
    assert ez.load(files / "model.json").feature_cost == ALL.tolist()
    proved = run.json("certify", *data, "--budget", "4", "--out", str(files / "proof.npz"), "--model", str(files / "m.json"))
    assert proved["status"] == "optimal"
    assert proved["total_cost"] <= 4.0
    assert ez.load(files / "m.json").budget == 4.0
    expect = ["--expect", "budget=4", "--expect", "lambda_2=0.001", "--expect", "standardize=true"]
    assert run.json("verify", str(files / "proof.npz"), *data, *expect)["valid"]
    assert run.json("verify", str(files / "proof.npz"), *data)["valid"]
    points = run.json("path", *data)["points"]
    assert points[-1]["total_cost"] > points[0]["total_cost"]
    (files / "others.csv").write_text("scan,4\n")
    code, out, _ = run("verify", str(files / "proof.npz"), *data[:3], "--costs", str(files / "others.csv"))
    assert code == 3
    assert "other costs of the features" in out
    assert "total cost" in run.ok("fit", *data, "--k", "2")
    assert "that cost" in run.ok("certify", *data, "--k", "2")
    assert "total cost" in run.ok("path", *data)
    assert "total cost" in run.ok("cv", *data, "--cv", "3", "--penalty", "l0")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("scan,5\nscan,5\n", "--costs names 'scan' twice"),
        ("scans,5\n", "--costs names 'scans', which is no column that is used"),
        ("scan,5\nblood\n", "--costs must have a column and its cost in each line"),
        ("scan,5\nblood,dear\n", "--costs must have a column and its cost in each line"),
        ("scan,-5\n", "--costs must not be negative"),
        (b"\xff\xfe\x00", "--costs must be a CSV file in UTF-8"),
    ],
)
def test_bad_files_of_costs_are_refused(files, run, content, sentence):
    (files / "bad.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    told = run.error("fit", files / "data.csv", "--target", "label", "--costs", files / "bad.csv", "--k", "1")
    assert sentence in told


def test_the_report_mentions_the_total_cost(files, run):
    out = files / "page.html"
    data = [str(files / "data.csv"), "--target", "label", "--costs", str(files / "costs.csv"), "--cv", "3", "--penalty", "l0"]
    run.ok("report", *data, "--out", str(out))
    assert "cost" in out.read_text()
    assert "together" in out.read_text()


@pytest.mark.parametrize("algorithm", ["cd", "local_search"])
@pytest.mark.parametrize("cost", [2.0, 0.5, 2.5])
def test_budgets_are_for_equal_costs_too(cost, algorithm):
    found = ez.fit_budgets(X, Y, [2.0 * cost, 3.5 * cost], feature_cost=np.full(6, cost), lambda_2=0.01, algorithm=algorithm)
    sizes = ez.fit_sizes(X, Y, [2, 3], lambda_2=0.01)
    np.testing.assert_array_equal(found.support_size, [2, 3])
    np.testing.assert_allclose(found.objective, sizes.objective, rtol=1e-6)


def test_costs_of_columns_that_are_all_empty():
    """Of a sparse X, no column is left to search then, and no largest price."""
    empty, costs = sparse.csc_matrix((80, 2)), {"feature_cost": [2.0, 3.0], "lambda_2": 0.01}
    for limit in ({"budget": 4.0}, {"k": 1}, {"lambda_0": 0.1}):
        assert ez.solve(empty, Y, **limit, **costs).status == "optimal"
    targets = np.column_stack([Y, Y[::-1]])
    assert ez.solve(empty, targets, budget=4.0, **costs).status == "optimal"
