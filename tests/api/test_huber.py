"""Huber's loss as users meet it: outliers, estimators, files, commands, and certificates that claim another delta."""

import json

import numpy as np
import pytest
from support.certificates import check

import ellzero as ez
from ellzero.cli import main
from ellzero.exact.verifier.losses import HuberTerms as Verified
from ellzero.problem.losses import Huber

DELTA = 1.35


def with_outliers(seed=0, n=120, p=20):
    """Two features matter; a tenth of the rows are wrong by far, where a third feature is large."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = 2.0 * X[:, 0] - 1.5 * X[:, 1] + rng.standard_normal(n)
    X[: n // 10, 2] += 3.0
    y[: n // 10] += 60.0
    return X, y


X, Y = with_outliers()
PROBLEM = {"loss": "huber", "k": 2, "lambda_2": 0.001}


def test_outliers_do_not_choose_the_features():
    assert ez.L0Regressor(k=2, loss="huber").fit(X, Y).support_.tolist() == [0, 1]
    assert 2 in ez.L0Regressor(k=2).fit(X, Y).support_
    assert ez.L0RegressorCV(loss="huber", select="size", max_support=4).fit(X, Y).support_.tolist() == [0, 1]
    assert ez.L0Selector(k=2, regression=True, loss="huber").fit(X, Y).get_support(indices=True).tolist() == [0, 1]
    exact = ez.L0Regressor(k=2, loss="huber", algorithm="exact").fit(X, Y)
    assert exact.support_.tolist() == [0, 1]
    assert exact.solution_.status == "optimal"


def test_delta_is_on_the_scale_of_y():
    one = ez.L0Regressor(k=2, loss="huber", huber_delta=0.7, lambda_2=0.01).fit(X, Y)
    ten = ez.L0Regressor(k=2, loss="huber", huber_delta=7.0, lambda_2=0.01).fit(X, 10.0 * Y)
    np.testing.assert_allclose(ten.coef_, 10.0 * one.coef_, rtol=1e-6)
    assert ez.objective(X, Y, one, lambda_2=0.01, standardize=True) == pytest.approx(one.objective_)


def test_models_know_their_delta():
    """A model of a path is judged by its own loss, also after it was saved."""
    path = ez.fit_path(X, Y, loss="huber", huber_delta=0.5, lambda_2=0.001, lambda_0=[0.05])
    assert path[0].loss == Huber(0.5)
    assert ez.objective(X, Y, path[0], lambda_0=0.05, lambda_2=0.001) == pytest.approx(path.objective[0])
    assert ez.check_stationarity(X, Y, path[0], lambda_2=0.001)


def test_files(tmp_path):
    for model in (ez.L0Regressor(k=2, loss="huber", huber_delta=0.8).fit(X, Y), ez.fit_path(X, Y, **PATH).at_support(2)):
        model.save(tmp_path / "model.json")
        loaded = ez.load(tmp_path / "model.json")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert (loaded.loss, loaded.huber_delta) == ("huber", 0.8)
    content = json.loads((tmp_path / "model.json").read_text())
    for wrong in (None, -1.0, "1"):
        changed = {name: value for name, value in content.items() if name != "huber_delta"}
        (tmp_path / "wrong.json").write_text(json.dumps(changed | ({} if wrong is None else {"huber_delta": wrong})))
        with pytest.raises(ez.InvalidInputError, match="huber_delta"):
            ez.load(tmp_path / "wrong.json")
    found = ez.alternatives(X, Y, within=0.02, huber_delta=0.8, **PROBLEM)
    found.save(tmp_path / "models.json")
    assert ez.Alternatives.load(tmp_path / "models.json").models[0].loss == Huber(0.8)


PATH = {"loss": "huber", "huber_delta": 0.8, "lambda_2": 0.001, "max_support": 4}


@pytest.fixture(scope="module")
def solution():
    return ez.solve(X, Y, **PROBLEM)


def parts(solution):
    return dict(solution.certificate.header), dict(solution.certificate.arrays)


def test_certificates_of_another_delta_are_refused(solution):
    assert check(*parts(solution), X, Y).valid
    for delta in (1.349999, 1.36, 0.5, 100.0, 1e301):
        header, arrays = parts(solution)
        report = check(header | {"huber_delta": delta}, arrays, X, Y)
        assert not report.valid, delta
    for delta, reason in ((0.0, "not positive"), (-1.35, "huber_delta"), ("1.35", "huber_delta")):
        header, arrays = parts(solution)
        assert reason in check(header | {"huber_delta": delta}, arrays, X, Y).reasons[0]
    header, arrays = parts(solution)
    del header["huber_delta"]
    assert check(header, arrays, X, Y).reasons == ["the header lacks huber_delta."]
    header, arrays = parts(solution)
    assert not check(header | {"loss": "squared_error"}, arrays, X, Y).valid
    assert not check({**parts(solution)[0], "loss": "squared_error", "huber_delta": None}, arrays, X, Y).valid


def test_dual_points_beyond_delta_prove_nothing_more(solution):
    """However far a file's dual points are outside the domain, the verifier brings them back, and the bound holds."""
    header, arrays = parts(solution)
    arrays["model_values"] = arrays["model_values"] * 1e6
    report = check(header, arrays, X, Y)
    assert report.lower_bound <= solution.objective * (1 + 1e-12)


def test_parts_of_proofs_for_other_losses_are_refused(solution):
    """Growth is about labels, and diagonals about the squared error: neither proves anything of Huber's loss."""
    header, arrays = parts(solution)
    growth = {"growth_alpha": np.full(len(Y), 0.5), "growth_columns": np.array([0]), "growth_values": np.ones(1)}
    assert "no use" in check(header, arrays | growth, X, Y).reasons[0]
    row = np.zeros(len(arrays["model_ends"]), np.int64)
    diagonals = {"point_diagonal": row - 1}
    diagonals |= {"diagonal_ends": row[:0], "diagonal_members": row[:0], "diagonal_values": np.zeros(0)}
    assert "no use" in check(header, arrays | diagonals, X, Y).reasons[0]


def test_verify_compares_delta(solution):
    assert ez.verify(solution.certificate, X, Y, **PROBLEM).valid
    report = ez.verify(solution.certificate, X, Y, huber_delta=2.0, **PROBLEM)
    assert report.reasons == ["huber_delta is 1.35 in the certificate, not 2.0 as expected."]
    assert "huber loss with huber_delta = 1.35" in report.problem[0]


def test_dual_terms_are_minima():
    """In both arithmetics, no dual term is above w f(eta) + theta eta, and at the best eta it is there."""
    from ellzero.exact.verifier.exact_arithmetic import Exact, rational

    loss, rng = Verified(0.4), np.random.default_rng(0)
    eta = np.linspace(-30.0, 30.0, 200_001)
    for _ in range(20):
        w, y = float(rng.uniform(0.01, 1.0)), float(rng.standard_normal())
        theta = loss.points(np.array([[3.0 * rng.standard_normal()]]), np.array([y]), np.array([w]), False, 1)[0]
        term, size = loss.dual_terms(theta, np.array([y]), np.array([w]))
        least = float((w * loss.values(eta, np.full_like(eta, y)) + theta * eta).min())
        assert least - 1e-6 <= term[0] <= least + 1e-12
        assert size[0] >= abs(term[0])
        exact = loss.exact_term(*rational(np.array([theta[0], y, w])), Exact())
        assert float(exact) == pytest.approx(term[0], rel=1e-12)
        assert loss.exact_term(*rational(np.array([1.01 * 0.4 * w, y, w])), Exact()) == -np.inf
    values = [loss.exact_value(*rational(np.array([e, 0.3])), Exact()) for e in (0.2, 5.0, -5.0)]
    np.testing.assert_allclose(np.array(values, float), Huber(0.4).value(np.array([0.2, 5.0, -5.0]), 0.3))


def test_other_algorithms_and_limits(tmp_path):
    """Grids, budgets, certified paths, improvement and checkpoints take the loss as it is."""
    settings = {"loss": "huber", "huber_delta": 0.8, "lambda_2": 0.01}
    grid = ez.fit_grid(X, Y, lambda_2=[0.1, 0.01], loss="huber", huber_delta=0.8, max_support=3)
    assert all(column.problem.loss == Huber(0.8) for column in grid.paths)
    assert ez.fit_budgets(X, Y, [2.0], feature_cost=np.linspace(0.5, 2.0, 20), **settings).models[0].spent <= 2.0
    certified = ez.certify_path(ez.fit_sizes(X, Y, [1, 2], **settings))
    assert list(certified.status) == ["optimal", "optimal"]
    start = ez.fit_sizes(X, Y, 2, **settings).models[-1]
    assert ez.improve(X, Y, start, lambda_0=0.01, **settings).objective <= start.objective_at(0.01) * (1 + 1e-12)


def test_refusals():
    for delta in (0.0, -1.0, float("nan"), 1e200, "a"):
        with pytest.raises(ez.InvalidInputError, match="huber_delta"):
            ez.fit_path(X, Y, loss="huber", huber_delta=delta)
    with pytest.raises(ez.InvalidInputError, match="loss must be one of numbers"):
        ez.L0Regressor(loss="logistic").fit(X, Y)
    with pytest.raises(ez.InvalidInputError, match="loss must be one of 'logistic', 'squared_error'"):
        ez.inference(X, Y, k=2, loss="huber")
    with pytest.raises(ez.InvalidInputError, match="lambda_2 must be positive"):
        ez.solve(X, Y, k=2, loss="huber")


def test_commands(tmp_path, capsys):
    table = tmp_path / "data.csv"
    names = [*(f"x{j}" for j in range(X.shape[1])), "y"]
    np.savetxt(table, np.column_stack([X, Y]), delimiter=",", header=",".join(names), comments="")
    data = [str(table), "--target", "y", "--regression", "--loss", "huber", "--huber-delta", "0.9"]
    model, proof = tmp_path / "model.json", tmp_path / "proof.npz"
    assert main(["fit", *data, "--k", "2", "--out", str(model), "--quiet", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["loss"], result["huber_delta"]) == ("huber", 0.9)
    assert [feature["name"] for feature in result["features"]] == ["x0", "x1"]
    assert ez.load(model).huber_delta == 0.9
    assert main(["certify", *data, "--k", "2", "--out", str(proof), "--quiet"]) == 0
    check_it = ["verify", str(proof), str(table), "--target", "y", "--regression", "--quiet", "--json"]
    assert main(check_it) == 0
    assert main([*check_it, "--expect", "loss=huber", "--expect", "k=2", "--expect", "huber_delta=1"]) == 3
    assert "huber_delta is 0.9" in capsys.readouterr().out
    assert main(["fit", str(table), "--target", "y", "--regression", "--loss", "hinge", "--quiet"]) == 2
