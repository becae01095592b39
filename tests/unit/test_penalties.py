"""The thresholding operator against brute force."""

import numpy as np
import pytest

from ellzero.problem.penalties import Penalty

GRID = np.linspace(-4.0, 4.0, 80001)

PENALTIES = [
    Penalty.of(1, lambda_0=0.3),
    Penalty.of(1, lambda_0=0.3, lambda_1=0.2, lambda_2=0.1),
    Penalty.of(1, lambda_1=0.5),
    Penalty.of(1, lambda_0=0.3, lambda_1=0.1, lambda_2=0.2, lower=np.array([-0.5]), upper=np.array([0.8])),
    Penalty.of(1, lambda_0=0.2, lower=np.array([0.0])),
    Penalty.of(1, lambda_0=0.4, lambda_1=0.1, price=np.array([0.0])),
]


@pytest.mark.parametrize("penalty", PENALTIES, ids=range(len(PENALTIES)))
@pytest.mark.parametrize("curvature", [0.3, 1.0, 2.5])
def test_threshold_minimises_the_surrogate(penalty, curvature):
    low, high, price = penalty.lower[0], penalty.upper[0], penalty.price[0]
    grid = GRID[(low <= GRID) & (high >= GRID)]
    for c in np.linspace(-3.0, 3.0, 41):
        best = penalty.threshold(np.array([c]), np.array([curvature]))
        cost = np.where(grid != 0, penalty.lambda_0 * price, 0.0)
        brute = curvature / 2 * (grid - c) ** 2 + cost + penalty.lambda_1 * np.abs(grid) + penalty.lambda_2 * grid**2
        value = penalty.surrogate(best, np.array([c]), np.array([curvature]))[0]
        assert low <= best[0] <= high
        assert value <= brute.min() + 1e-12


@pytest.mark.parametrize("penalty", [each for each in PENALTIES if each.lambda_2 > 0.0], ids=["shrunk", "in a box"])
def test_conjugate_is_the_largest_of_all(penalty):
    grid = GRID[(penalty.lower[0] <= GRID) & (penalty.upper[0] >= GRID)]
    for v in np.linspace(-0.7, 0.7, 29):  # the maximisers are on the grid
        brute = v * grid - penalty.lambda_1 * np.abs(grid) - penalty.lambda_2 * grid**2
        assert penalty.conjugate(np.array([v]))[0] == pytest.approx(brute.max(), abs=1e-8)


def test_threshold_is_the_closed_form_of_the_paper():
    lambda_0, lambda_1, lambda_2, L = 0.3, 0.2, 0.1, 1.7
    c = np.linspace(-3, 3, 601)
    shrunk = L / (L + 2 * lambda_2) * (np.abs(c) - lambda_1 / L)
    paper = np.where(shrunk >= np.sqrt(2 * lambda_0 / (L + 2 * lambda_2)), shrunk * np.sign(c), 0.0)
    penalty = Penalty.of(c.size, lambda_0=lambda_0, lambda_1=lambda_1, lambda_2=lambda_2)
    np.testing.assert_allclose(penalty.threshold(c, np.full_like(c, L)), paper)


def test_value_counts_only_penalised_features():
    beta, lambdas = np.array([[1.0], [0.0], [-2.0]]), {"lambda_0": 1.0, "lambda_1": 0.5, "lambda_2": 0.25}
    assert Penalty.of(3, **lambdas).value(np.arange(3), beta) == 2.0 + 1.5 + 1.25
    assert Penalty.of(3, **lambdas, price=np.array([0.0, 1.0, 1.0])).value(np.arange(3), beta) == 1.0 + 1.5 + 1.25
