"""The thresholding operator against brute force."""

import numpy as np
import pytest

from ellzero.problem.penalties import Penalty

GRID = np.linspace(-4.0, 4.0, 80001)

PENALTIES = [
    Penalty(0.3),
    Penalty(0.3, 0.2, 0.1),
    Penalty(0.0, 0.5, 0.0),
    Penalty(0.3, 0.1, 0.2, lower=np.array([-0.5]), upper=np.array([0.8])),
    Penalty(0.2, lower=np.array([0.0])),
    Penalty(0.4, 0.1, unpenalized=np.array([True])),
]


@pytest.mark.parametrize("penalty", PENALTIES, ids=range(len(PENALTIES)))
@pytest.mark.parametrize("curvature", [0.3, 1.0, 2.5])
def test_threshold_minimises_the_surrogate(penalty, curvature):
    low = -np.inf if penalty.lower is None else penalty.lower[0]
    high = np.inf if penalty.upper is None else penalty.upper[0]
    grid = GRID[(low <= GRID) & (high >= GRID)]
    free = penalty.unpenalized is not None
    for c in np.linspace(-3.0, 3.0, 41):
        best = penalty.threshold(np.array([c]), np.array([curvature]))
        cost = np.where((grid != 0) & (not free), penalty.lambda_0, 0.0)
        brute = curvature / 2 * (grid - c) ** 2 + cost + penalty.lambda_1 * np.abs(grid) + penalty.lambda_2 * grid**2
        value = penalty.surrogate(best, np.array([c]), np.array([curvature]))[0]
        assert low <= best[0] <= high
        assert value <= brute.min() + 1e-12


def test_threshold_is_the_closed_form_of_the_paper():
    lambda_0, lambda_1, lambda_2, L = 0.3, 0.2, 0.1, 1.7
    c = np.linspace(-3, 3, 601)
    shrunk = L / (L + 2 * lambda_2) * (np.abs(c) - lambda_1 / L)
    paper = np.where(shrunk >= np.sqrt(2 * lambda_0 / (L + 2 * lambda_2)), shrunk * np.sign(c), 0.0)
    np.testing.assert_allclose(Penalty(lambda_0, lambda_1, lambda_2).threshold(c, np.full_like(c, L)), paper)


def test_value_counts_only_penalised_features():
    beta = np.array([1.0, 0.0, -2.0])
    mask = np.array([True, False, False])
    assert Penalty(1.0, 0.5, 0.25).value(beta) == 2.0 + 1.5 + 1.25
    assert Penalty(1.0, 0.5, 0.25, unpenalized=mask).value(beta) == 1.0 + 1.5 + 1.25
