"""Settings that functions pass on: shown in their signatures, checked by name, the same defaults everywhere."""

import inspect

import numpy as np
import pytest

import ellzero as ez
from ellzero.exact.options import ExactSettings, search_options
from ellzero.paths.options import PathSettings, path_options
from ellzero.problem.making import ProblemSettings, make_problem

X = np.eye(6)
Y = np.array([0, 1, 0, 1, 0, 1])
FUNCTIONS = {
    "fit_path": (ez.fit_path, PathSettings),
    "fit_sizes": (ez.fit_sizes, PathSettings),
    "lambda_grid": (ez.lambda_grid, PathSettings),
    "solve": (ez.solve, ExactSettings),
    "improve": (ez.improve, ExactSettings),
    "check_stationarity": (ez.check_stationarity, ProblemSettings),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_show_every_setting_with_its_default(name):
    function, settings = FUNCTIONS[name]
    shown = inspect.signature(function).parameters
    assert set(settings.__annotations__) <= set(shown)
    assert not any(parameter.kind is parameter.VAR_KEYWORD for parameter in shown.values())
    for target in (make_problem, path_options if settings is PathSettings else search_options):
        for key, parameter in inspect.signature(target).parameters.items():
            if key in settings.__annotations__:
                assert shown[key].default == parameter.default, key


@pytest.mark.parametrize("name", [*FUNCTIONS, "fit_grid"])
def test_a_name_that_nobody_knows(name):
    function = FUNCTIONS[name][0] if name in FUNCTIONS else ez.fit_grid
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'lamda_2'"):
        function(X, Y, lamda_2=0.1)


def test_every_setting_has_a_default_somewhere():
    known = {name for target in (make_problem, path_options, search_options) for name in inspect.signature(target).parameters}
    assert set(PathSettings.__annotations__) | set(ExactSettings.__annotations__) <= known


def test_models_say_what_they_hold():
    X, y, _ = ez.datasets.make_classification(100, 20, 3, random_state=0)
    path = ez.fit_path(X, y, lambda_2=0.01, unpenalized=[4], max_support=4)
    for model in path:
        assert model.size == len(set(model.support.tolist()) - {4})
        assert model.objective == pytest.approx(model.cost + model.lambda_0 * model.size, rel=1e-14)
        assert model.cost == pytest.approx(ez.objective(X, y, model.coef, model.intercept, lambda_2=0.01), rel=1e-14)
    by_size = path.at_support(2)
    assert by_size.lambda_0 is None
    assert by_size.objective == by_size.cost
    assert by_size.objective_at(0.5) == by_size.cost + 0.5 * 2
    best = ez.solve(X, y, k=2, lambda_2=0.01)
    assert best.model.lambda_0 is None
    assert ez.solve(X, y, k=2, lambda_0=0.01, lambda_2=0.01).model.lambda_0 == 0.01
