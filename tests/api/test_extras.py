"""What needs a package that is not installed says which extra brings it."""

import sys

import pytest

import ellzero as ez


def test_plots_and_frames_name_their_extra(monkeypatch):
    X, y, _ = ez.datasets.make_classification(60, 8, 2, s=2.0, random_state=0)
    path, sizes = ez.fit_path(X, y, max_support=3), ez.fit_sizes(X, y, range(3))
    solution = ez.solve(X, y, k=1, lambda_2=0.1)
    scores = ez.L0ClassifierCV(cv=3, rule="one_se").fit(X, y).cv_results_
    stable = ez.stability_selection(X, y, k=2, n_subsamples=4)
    grid = ez.fit_grid(X, y, lambda_2=[0.1, 0.01], max_support=2)
    for module in ("pandas", "matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, module, None)
    for result in (path, sizes, solution, scores, stable, grid):
        with pytest.raises(ez.InvalidInputError, match=r"^pandas is needed .* pip install 'ellzero\[frame\]'$"):
            result.to_frame()
    for plot in (path.plot, sizes.plot, solution.plot, scores.plot, scores.plot_supports, stable.plot):
        with pytest.raises(ez.InvalidInputError, match=r"^matplotlib is needed .* pip install 'ellzero\[plot\]'$"):
            plot()
