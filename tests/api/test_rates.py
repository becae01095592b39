"""The experiment on error rates: its estimators, its arithmetic and a quick run."""

import numpy as np
import pytest

import ellzero as ez
from experiments import rates_sweeps
from experiments.experiment import Scale
from experiments.rates import RATES, fit_l0, fit_l1, prove
from experiments.rates_report import Results, growth, slope, with_error
from experiments.rates_sweeps import Setting
from experiments.rates_theory import fewest_rows, population_norm

pytest.importorskip("matplotlib")


def test_data_is_the_same_for_all_methods_and_differs_between_repetitions():
    setting = Setting(40, 12, 3, 2.0)
    X, y, direction = setting.draw(0)
    again, labels, _ = setting.draw(0)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, labels)
    np.testing.assert_allclose(np.linalg.norm(direction), 1.0)
    assert not np.array_equal(X, setting.draw(1)[0])


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_the_truth_minimises_the_risk(loss):
    """On very many rows the mean derivative along and across the generating coefficients vanishes at the stated truth."""
    rng = np.random.default_rng(0)
    z, other = rng.standard_normal((2, 1_000_000))
    y = np.where(rng.random(len(z)) < 1.0 / (1.0 + np.exp(-2.0 * z)), 1.0, -1.0)
    margin = y * population_norm(loss, 2.0) * z
    weight = 1.0 / (1.0 + np.exp(margin)) if loss == "logistic" else (margin < 1.0).astype(float)
    for part in (z, other):
        assert abs(np.mean(y * part * weight)) < 4.0 * np.std(y * part * weight) / np.sqrt(len(z))


@pytest.mark.parametrize("signal", [1.0, 2.0])
def test_the_estimate_is_the_global_minimum_on_small_problems(signal):
    """Branch and bound over the box |beta_j| <= 2R, which contains the ball, proves it."""
    for repetition in range(3):
        X, y, direction = Setting(300, 20, 3, signal).draw(repetition)
        assert prove(X, y, signal * direction)["gap"] <= 1e-4
        found = fit_l0(X, y, signal * direction, "logistic")
        exact = ez.solve(X, y, k=3, bound=2.0 * signal, fit_intercept=False)
        np.testing.assert_allclose(found["objective"], exact.objective, rtol=1e-6)
        np.testing.assert_allclose(found["norm"], np.linalg.norm(exact.coef), rtol=1e-3)


def test_the_norm_bound_is_kept_where_it_is_active():
    """Few rows can be separated: without the bound the coefficients would be infinite."""
    X, y, direction = Setting(30, 40, 4, 2.0).draw(0)
    found = fit_l0(X, y, 2.0 * direction, "logistic")
    assert found["size"] <= 4
    np.testing.assert_allclose(found["norm"], 4.0, rtol=1e-6)
    assert found["objective"] <= found["known_objective"]


def test_the_best_point_of_the_l1_path():
    """No point of scikit-learn's path is nearer to the truth, and at the same lambda_1 it is the same point."""
    from sklearn.linear_model import LogisticRegression

    X, y, direction = Setting(200, 30, 3, 2.0).draw(0)
    truth = 2.0 * direction
    best = fit_l1(X, y, truth)

    def error(weight):
        model = LogisticRegression(
            C=1.0 / (len(y) * weight), l1_ratio=1.0, solver="liblinear", fit_intercept=False, tol=1e-8, max_iter=5000
        )
        return float(np.sum((model.fit(X, y).coef_[0] - truth) ** 2))

    np.testing.assert_allclose(error(best["lambda_1"]), best["error"], rtol=1e-3)
    assert min(error(best["lambda_1"] * share) for share in np.geomspace(0.3, 3.0, 25)) >= 0.98 * best["error"]
    assert best["found"] == 3
    assert best["size"] > 3


def test_the_l1_path_ends_where_every_feature_matters():
    """With nothing to leave out the error may fall to the end of the path."""
    X, y, direction = Setting(2000, 3, 3, 1.0).draw(0)
    assert fit_l1(X, y, direction)["size"] == 3


def test_slopes_and_their_errors():
    exact = {n: [3.0 / n] * 2 for n in (10, 100, 1000)}
    assert slope(exact) == pytest.approx((-1.0, 0.0))
    rng = np.random.default_rng(1)
    draws = [slope({n: rng.chisquare(5, 20) / n for n in (500, 1000, 2000, 4000)}) for _ in range(400)]
    fitted, errors = np.transpose(draws)
    assert abs(fitted.mean() + 1.0) < 0.02
    np.testing.assert_allclose(errors.mean(), fitted.std(), rtol=0.15)
    assert growth([1.0, 1.0], [2.0, 4.0]) == pytest.approx((3.0, 1.0))
    assert with_error([0.0103, 0.0123]) == "0.0113 ± 0.0010"
    assert with_error([2.0]) == "2.00 ± 0.00"


def test_fewest_rows():
    """The number follows from the paper's constants, for the largest radius that a loss of slope 1 allows."""
    k, p, radius, kappa = 5, 1000, 2.0, 0.07
    reach = 4.0 * np.sqrt(2.0 / np.pi) / kappa
    n = fewest_rows(k, p, radius)
    np.testing.assert_allclose(24.0 / kappa * np.sqrt((k * np.log(radius * p / k) + np.log(2.0)) / n), reach)


def test_tasks():
    full, quick = RATES.tasks(Scale()), RATES.tasks(Scale(quick=True))
    assert len({tuple(task.items()) for task in full}) == len(full)
    assert {task["repetition"] for task in full} == set(range(20))
    assert {task["repetition"] for task in RATES.tasks(Scale(repetitions=3))} == {0, 1, 2}
    assert len(quick) < len(full)
    for methods in ({task["method"] for task in tasks} for tasks in (full, quick)):
        assert methods == {rates_sweeps.L0, rates_sweeps.HINGE, rates_sweeps.L1, rates_sweeps.PROOF}


@pytest.fixture(scope="module")
def quick_records():
    tasks = RATES.tasks(Scale(quick=True))
    return [task | RATES.run(task) | {"seconds": 0.0} for task in tasks]


def test_quick_run_shows_the_rate(quick_records, tmp_path):
    text = RATES.report(quick_records, tmp_path, Scale(quick=True))
    rows, features, sizes = (Results.of(sweep, quick_records) for sweep in RATES.sweeps(True))
    assert -1.4 < slope(rows.errors(rates_sweeps.L0, 2.0, rows.fewest_rows(2.0)))[0] < -0.7
    assert -1.2 < slope(rows.errors(rates_sweeps.L0, 2.0))[0] < -0.8
    # Five times to twenty-five times as many features cost less than the logarithm allows, and L1 more than L0.
    strong = features.errors(rates_sweeps.L0, 2.0)
    assert growth(strong[20], strong[500])[0] < features.rate(500, 2.0) / features.rate(20, 2.0)
    for result in (rows, features, sizes):
        for value, errors in result.errors(rates_sweeps.L1, 2.0).items():
            assert np.mean(errors) > np.mean(result.errors(rates_sweeps.L0, 2.0)[value])
    assert "Verdict: for n > 886 the slope of L0 is" in text
    assert "within two standard errors" in text
    assert "A quick run" in text
    assert "12 repetitions" in text
    assert "(largest gap" in text
    assert (tmp_path / "rates-quick.png").stat().st_size > 10_000


@pytest.mark.parametrize("kept", [1, 2, 7])
def test_report_on_an_unfinished_run(quick_records, tmp_path, kept):
    text = RATES.report(quick_records[:kept], tmp_path, Scale(quick=True))
    assert "Error against n" in text
    assert "nan" not in text


def test_report_without_our_method(quick_records, tmp_path):
    only = [record for record in quick_records if record["method"] in (rates_sweeps.L1, rates_sweeps.PROOF)]
    assert "Branch and bound proves" in RATES.report(only, tmp_path, Scale(quick=True))
