"""Every plot is drawn, and shows what it says: lines, bars, labels, the chosen point."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.container import ErrorbarContainer
from scipy import sparse

import ellzero as ez
from ellzero.estimators.choice import Column, explain
from ellzero.estimators.cross_validation import CrossValidation
from ellzero.estimators.scoring import Parts
from ellzero.plots import (
    FoldSupports,
    ScoreLine,
    SearchState,
    plot_bounds,
    plot_path,
    plot_scores,
    plot_sizes,
    plot_stability,
    plot_supports,
)
from ellzero.plots.axes import USED


def cross_validation(columns=3, select="lambda_0", rule="best", names=None, points=15, folds=5, p=60, seed=0):
    """Results as cross-validation gives them: features enter one by one, the third ones differ between folds."""
    rng = np.random.default_rng(seed)
    out = []
    for k in range(columns):
        size = np.arange(points)
        order = np.array([np.r_[0:8, 8 + rng.permutation(p - 8)] for _ in range(folds)])
        use = np.array([[np.isin(np.arange(p), order[f, : size[m]]) for m in range(points)] for f in range(folds)])
        level = -0.3 - 0.35 * np.exp(-0.6 * size) - 0.004 * np.maximum(size - 7, 0) - 0.02 * k
        lambda_0 = np.full(points, np.nan) if select == "size" else 0.1 * 0.7**size
        coef = [sparse.csr_matrix(np.isin(np.arange(p), np.arange(m)).astype(float)) for m in size]
        scores = level[:, None] + 0.03 * rng.standard_normal(folds) + 0.01 * rng.standard_normal((points, folds))
        out.append(
            Column(
                lambda_1=0.0,
                lambda_2=10.0 ** (-1 - k / 2),
                lambda_0=lambda_0,
                size=size,
                coef=coef,
                intercept=np.zeros((points, 1)),
                scores=scores,
                parts=Parts(np.arange(folds), np.ones(folds), scores, np.ones(folds)),
                fold_size=np.tile(size[:, None], folds),
                fold_supports=[sparse.csr_matrix(use[f]) for f in range(folds)],
            )
        )
    choice = explain(out, (0, 7), rule=rule, scoring="negative loss", loss="logistic")
    return CrossValidation(select, rule, "negative loss", out, (0, 7), choice, [], names)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def stability(frequency, names=None):
    return ez.Stability(frequency, 100, 5.0, names)


def texts(ax):
    ax.figure.canvas.draw()
    return [text.get_text() for text in ax.get_legend().get_texts()] if ax.get_legend() else []


def marker_at_choice(ax):
    """The line that is only the mark of the chosen point."""
    (mark,) = [line for line in ax.lines if line.get_label().startswith("chosen")]
    return mark


@pytest.mark.parametrize("select", ["lambda_0", "size"])
@pytest.mark.parametrize("columns", [1, 3, 10])
def test_scores_have_a_line_a_column_and_bars_on_the_chosen_one(select, columns):
    cv = cross_validation(columns, select)
    ax = cv.plot(against=select)
    bars = [container for container in ax.containers if isinstance(container, ErrorbarContainer)]
    assert len(bars) == (columns if columns <= 3 else 1)
    labels = texts(ax)
    assert len(labels) == columns + 1
    assert labels[:columns] == [f"$\\lambda_2$ = {column.lambda_2:.3g}" for column in cv.columns]
    assert labels[columns] == "chosen: 7 features"
    column, point = cv.columns[0], 7
    assert marker_at_choice(ax).get_xydata().tolist() == [
        [column.size[point] if select == "size" else column.lambda_0[point], column.mean[point]]
    ]
    low, high = (np.array([segment[end][1] for segment in bars[0][2][0].get_segments()]) for end in (0, 1))
    np.testing.assert_allclose(np.sort(high - low), np.sort(2.0 * column.standard_error))
    assert ax.get_ylabel() == "held-out score (negative loss)"
    if select == "size":
        assert ax.get_xlabel() == "features in the model"
    else:
        assert ax.get_xscale() == "log"
        assert ax.xaxis_inverted()


def test_scores_show_the_threshold_of_one_standard_error():
    cv = cross_validation(rule="one_se")
    ax = cv.plot(against="lambda_0")
    (line,) = [line for line in ax.lines if "one standard error" in str(line.get_label())]
    best = max(cv.columns, key=lambda column: column.mean.max())
    top = best.mean.argmax()
    np.testing.assert_allclose(line.get_ydata()[0], best.mean[top] - best.standard_error[top])
    assert not [line for line in cross_validation().plot().lines if "one standard error" in str(line.get_label())]


def test_the_trade_shows_the_loss_by_size():
    choice = cross_validation().choice
    ax = choice.plot()
    (line,) = [container.lines[0] for container in ax.containers]
    assert line.get_xdata().tolist() == [each.size for each in choice.trade]
    np.testing.assert_allclose(line.get_ydata().astype(float), [-each.score for each in choice.trade])
    assert marker_at_choice(ax).get_xydata().tolist() == [[7, -choice.model.score]]
    assert texts(ax)[1] == "chosen: 7 features"
    assert ax.get_ylabel() == "held-out logistic loss"


def test_scores_against_size_of_a_grid_of_lambda_0():
    ax = cross_validation().plot(against="size")
    assert marker_at_choice(ax).get_xdata().tolist() == [7]
    with pytest.raises(ez.InvalidInputError, match="against must be one of 'lambda_0', 'size'"):
        cross_validation().plot(against="k")


def test_supports_count_the_folds():
    cv = cross_validation(names=[f"gene {j}" for j in range(60)])
    cv = replace(cv, best=(1, 9))  # eight features that all folds use, one that differs
    ax = cv.plot_supports()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[:8] == [f"gene {j}" for j in range(8)]
    assert labels.index("gene 8") >= 8  # the ninth of the final model, which few folds use
    (mesh,) = ax.collections
    used = mesh.get_array().reshape(len(labels), 5)
    assert used[:8].all()
    assert used[8:].sum(axis=0).tolist() == [1] * 5
    assert (np.diff(used.sum(axis=1)) <= 0).all()
    assert [text.get_text() for text in ax.texts][:8] == ["5/5"] * 8
    bold = {label.get_text() for label in ax.get_yticklabels() if label.get_fontweight() == "bold"}
    assert bold == {f"gene {j}" for j in range(9)}
    assert ax.yaxis_inverted()
    ax.figure.canvas.draw()


def test_supports_are_cut_at_top():
    cv = cross_validation()
    cv = replace(cv, best=(0, 14))
    assert len(cv.plot_supports(top=4).get_yticks()) == 4
    assert [label.get_text() for label in cv.plot_supports(top=2).get_yticklabels()] == ["x0", "x1"]


def test_supports_along_the_points():
    cv = cross_validation()
    ax = cv.plot_supports(along=True)
    mesh = ax.collections[0]
    share = mesh.get_array().reshape(len(ax.get_yticks()), 15)
    np.testing.assert_allclose(share[0], np.arange(15) >= 1)
    np.testing.assert_allclose(share[7], np.arange(15) >= 8)
    assert 0.0 < share[8:].max() < 1.0
    (frame,) = ax.patches
    assert frame.get_extents().width > 0
    assert {tick.get_text() for tick in ax.get_xticklabels()} <= {str(size) for size in range(15)}
    ax.figure.canvas.draw()


def test_supports_of_an_empty_model():
    cv = cross_validation()
    cv = replace(cv, best=(0, 0))
    assert len(cv.plot_supports().get_yticks()) == 0
    plt.gcf().canvas.draw()


def test_stability_bars():
    frequency = np.array([0.1, 0.95, 0.6, 0.0, 0.3])
    ax = stability(frequency).plot(threshold=0.6)
    assert [bar.get_width() for bar in ax.patches] == [0.95, 0.6, 0.3, 0.1]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x1", "x2", "x4", "x0"]
    colours = [bar.get_facecolor() for bar in ax.patches]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    assert ax.lines[0].get_xdata() == [0.6, 0.6]
    assert ax.get_title() == "2 of 5 features are stable"
    assert texts(ax) == ["threshold 0.6"]
    named = stability(frequency, list("abcde")).plot(top=2)
    assert [label.get_text() for label in named.get_yticklabels()] == ["b", "c"]


def test_sizes():
    X, y, _ = ez.datasets.make_classification(60, 4, 2, s=2.0, random_state=0)
    sizes = ez.fit_sizes(X, y, range(7), lambda_2=1e-3)
    ax = sizes.plot()
    line, reached, hollow = ax.lines
    np.testing.assert_array_equal(line.get_ydata(), sizes.objective)
    assert len(reached.get_xdata()) == sizes.reached.sum() == 5
    assert hollow.get_xdata().tolist() == [5, 6]
    assert texts(ax) == ["not better than a smaller model"]


def test_results_plot_themselves():
    X, y, _ = ez.datasets.make_classification(120, 30, 3, s=3.0, random_state=0)
    cv = ez.L0ClassifierCV(max_support=6, shrinkage=[0.1, 0.01], cv=3, rule="one_se").fit(X, y).cv_results_
    ax = cv.plot()
    column, point = cv.columns[cv.best[0]], cv.best[1]
    assert marker_at_choice(ax).get_xydata().tolist() == [[column.size[point], column.mean[point]]]
    assert len(texts(ax)) == 4
    ax = cv.plot(against="lambda_0")
    assert marker_at_choice(ax).get_xydata().tolist() == [[column.lambda_0[point], column.mean[point]]]
    names = [label.get_text() for label in cv.plot_supports().get_yticklabels()]
    assert {f"x{j}" for j in column.coef[point].indices} <= set(names)
    chosen = ez.stability_selection(X, y, k=3, n_subsamples=6)
    assert [bar.get_width() for bar in chosen.plot(top=3).patches] == np.sort(chosen.frequency)[::-1][:3].tolist()


def test_axes_are_used_when_given():
    _, axes = plt.subplots(1, 4)
    cv = cross_validation()
    assert cv.plot(axes[0]) is axes[0]
    assert cv.plot_supports(axes[1]) is axes[1]
    assert stability(np.ones(3)).plot(axes[2]) is axes[2]
    X, y, _ = ez.datasets.make_classification(60, 4, 2, random_state=0)
    assert ez.fit_sizes(X, y, [1, 2]).plot(axes[3]) is axes[3]
    assert len(plt.get_fignums()) == 1


def test_plots_take_plain_numbers():
    coef = sparse.csr_matrix([[0.0, 0.0], [1.0, 0.0], [1.5, -0.5]])
    ax = plot_path(np.array([0.3, 0.1, 0.05]), coef, np.array([0, 1, 2]), ["age", "dose"])
    assert texts(ax) == ["age", "dose"]
    assert ax.lines[1].get_ydata().tolist() == [0.0, 0.0, -0.5, -0.5]
    ax = plot_sizes(np.array([1, 2]), np.array([0.5, 0.4]), np.array([True, False]))
    assert texts(ax) == ["not better than a smaller model"]
    history = [SearchState(1.0, 0.6, 0.1, 0, 4), SearchState(2.0, 0.6, 0.2, 1, 6), SearchState(2.5, 0.5, 0.3, 1, 6)]
    ax = plot_bounds(history, SearchState(5.0, 0.5, 0.5), "optimal")
    assert [text.get_text() for text in ax.texts] == ["4", "6"]  # one mark for each iteration, the first has the number 0
    assert ax.lines[0].get_xydata().tolist() == [[1.0, 0.6], [2.0, 0.6], [2.5, 0.5], [5.0, 0.5]]
    assert ax.get_title() == "optimal"
    lines = [ScoreLine(0.0, 0.1, np.array([0.2, 0.1]), np.array([1, 2]), np.array([-0.5, -0.4]), np.zeros(2))]
    assert texts(plot_scores(lines, (0, 0), scoring="accuracy")) == ["$\\lambda_2$ = 0.1", "chosen: 1 feature"]
    folds = [sparse.csr_matrix([[True, False], [True, True]]), sparse.csr_matrix([[False, True], [True, True]])]
    ax = plot_supports(FoldSupports(folds, np.array([1, 2]), 0, np.array([1])))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x1", "x0"]
    assert [label.get_text() for label in plot_stability(np.array([0.2, 0.9])).get_yticklabels()] == ["x1", "x0"]


def test_effects_of_a_standard_deviation_are_the_default():
    X, y, _ = ez.datasets.make_classification(200, 10, 2, s=3.0, random_state=0)
    X = X * np.array([1000.0] + 9 * [1.0])  # in other units the coefficient of this column is next to nothing
    path = ez.fit_path(X, y, lambda_2=1e-4, standardize=True, max_support=2)
    ax = path.plot()
    assert ax.get_ylabel() == "effect of one standard deviation"
    drawn = {line.get_label(): line.get_ydata()[-1] for line in ax.get_lines()}
    last = path[-1]
    assert drawn["x0"] == pytest.approx(last.coef[0] * X[:, 0].std(), rel=1e-9)
    plain = path.plot(standardized=False)
    assert plain.get_ylabel() == "coefficient"
    assert next(line for line in plain.get_lines() if line.get_label() == "x0").get_ydata()[-1] == last.coef[0]
    plt.close("all")


@pytest.mark.parametrize("background", ["default", "dark_background"])
def test_legends_lie_beside_the_lines(background):
    X, y, _ = ez.datasets.make_classification(120, 10, 2, s=2.0, random_state=0)
    sizes = ez.fit_sizes(X, y, range(4), lambda_2=1e-2)
    grid = ez.fit_grid(X, y, lambda_2=[1.0, 0.1, 0.01], max_support=3)
    stable = ez.stability_selection(X, y, k=2, n_subsamples=4)
    scores = ez.L0ClassifierCV(cv=3, rule="one_se").fit(X, y).cv_results_
    solution = ez.solve(X, y, k=2, lambda_2=1e-2)
    with plt.style.context(background):
        plots = (grid.plot, ez.certify_path(sizes).plot, stable.plot, scores.plot, solution.plot, ez.fit_path(X, y).plot)
        for plot in plots:
            ax = plot()
            ax.figure.canvas.draw()
            legend, inside = ax.get_legend().get_window_extent(), ax.get_window_extent()
            assert legend.x0 >= inside.x1 - 1.0
            ground = np.array(to_rgb(ax.get_facecolor()))
            lines = [line for line in ax.get_lines() if line.get_linestyle() != "None" and len(line.get_xdata()) > 2]
            for line in lines:
                assert np.abs(np.array(to_rgb(line.get_color())) - ground).max() > 0.2
    plt.close("all")


def test_a_search_that_ended_at_its_root_has_something_to_show():
    X, y, _ = ez.datasets.make_classification(100, 8, 2, s=3.0, random_state=0)
    solution = ez.solve(X, y, k=1, lambda_2=0.1)
    assert len(solution.history) < 2
    ax = solution.plot()
    for line in ax.get_lines():
        assert line.get_xdata()[0] == 0.0
        assert line.get_xdata()[-1] == solution.seconds
    low, high = ax.get_ylim()
    assert low < solution.lower_bound <= solution.objective < high
    assert f"between {solution.lower_bound:.8g} and {solution.objective:.8g}" in ax.texts[0].get_text()
    plt.close("all")


def test_grids_and_certified_paths():
    X, y, _ = ez.datasets.make_classification(120, 10, 2, s=2.0, random_state=0)
    grid = ez.fit_grid(X, y, lambda_2=[1.0, 0.1], max_support=3)
    lines = grid.plot().get_lines()
    for line, path in zip(lines, grid, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), path.cost)
    path = ez.fit_path(X, y, lambda_2=1e-2, max_support=3)
    certified = ez.certify_path(path, node_limit=1)
    drawn = {line.get_label(): line for line in certified.plot().get_lines()}
    np.testing.assert_array_equal(np.sort(drawn["proved lower bound"].get_ydata()), np.sort(certified.lower_bound))
    hollow = len(drawn["the search ended early"].get_xdata()) if "the search ended early" in drawn else 0
    assert hollow == sum(status == "node_limit" for status in certified.status)
    assert ez.certify_path(ez.fit_sizes(X, y, range(3), lambda_2=1e-2)).plot().get_xlabel() == "features in the model"
    plt.close("all")


def test_a_plot_of_budgets_shows_what_each_buys():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 5))
    y = np.where(X @ [1.0, 1.0, 0.5, 0.5, 0.0] + rng.logistic(size=80) > 0.0, 1, 0)
    models = ez.fit_budgets(X, y, [1.0, 3.0, 20.0], lambda_2=0.01, feature_cost=[1.0, 2.0, 4.0, 8.0, 0.0])
    ax = models.plot()
    features = np.unique(np.concatenate([model.support for model in models]))
    paid = [int(j) for j in features if j != 4]  # the last one is free
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "3", "20"]
    expected = [f"x{j}  ({2**j})" for j in reversed(paid)]
    assert [label.get_text() for label in ax.get_yticklabels()] == expected
    filled = np.array([bar.get_facecolor()[:3] == to_rgb(USED) for bar in ax.patches]).reshape(len(paid), 3)
    want = [[j in model.support for model in models] for j in reversed(paid)]
    np.testing.assert_array_equal(filled, want)


def test_what_moves_a_prediction_is_drawn_as_bars():
    X, y, _ = ez.datasets.make_classification(200, 20, 3, s=3.0, random_state=0)
    found = ez.L0Classifier(k=3).fit(X, y).explain(X[0])
    ax = found.plot()
    part = found.parts[0]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(part.amounts.tolist())
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        f"{name} = {value}" for name, value in zip(part.names, part.values, strict=True)
    ]
    assert ax.yaxis_inverted()  # the largest is at the top
    assert "probability" in ax.get_title()
