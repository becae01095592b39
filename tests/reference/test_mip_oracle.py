"""The exact solver against two other solvers on problems that are too large to enumerate: SCIP (MIQP) and HiGHS (MILP)."""

import numpy as np
import pytest
from pyscipopt import Model, quicksum
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

import ellzero as ez


def draw(seed, n, p, loss):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.3 * rng.standard_normal((n, 1))
    beta = np.zeros(p)
    beta[rng.choice(p, 4, replace=False)] = [1.5, -1.2, 1.0, 0.8]
    y = X @ beta + 0.3 + 0.3 * rng.standard_normal(n)
    return X, y if loss == "squared_error" else np.where(y > 0.3, 1, -1)


def solve_hinge(X, y, lambda_0, lambda_1, k, big):
    """min sum(t) / n + lambda_0 sum(z) + lambda_1 sum(u + v) over t, u, v, z and the intercept; u, v <= big z, sum(z) <= k."""
    n, p = X.shape
    margins, none, E = y[:, None] * X, np.zeros((p, n)), np.eye(p)
    slopes = np.c_[np.eye(n), margins, -margins, np.zeros((n, p)), y[:, None]]
    switches = np.c_[none, -E, -E, big * E, np.zeros((p, 1))]
    counts = np.r_[np.zeros(n + 2 * p), np.ones(p), 0.0][None]
    cost = np.r_[np.full(n, 1.0 / n), np.full(2 * p, lambda_1), np.full(p, lambda_0), 0.0]
    low = np.r_[np.zeros(n + 3 * p), -np.inf]
    high = np.r_[np.full(n, np.inf), np.full(2 * p, big), np.ones(p), np.inf]
    rows = sparse.csr_matrix(np.r_[slopes, switches, -counts])
    found = milp(
        cost,
        integrality=np.r_[np.zeros(n + 2 * p), np.ones(p), 0.0],
        bounds=Bounds(low, high),
        constraints=LinearConstraint(rows, np.r_[np.ones(n), np.zeros(p), -k]),
        options={"mip_rel_gap": 1e-7, "time_limit": 120.0},
    )
    assert found.status == 0, found.message
    return found.fun


def solve_squares(X, y, lambda_0, lambda_2, k, big):
    """min t + lambda_0 sum(z) with t >= the squared residuals and lambda_2 ||b||^2, |b| <= big z."""
    n, p = X.shape
    scip = Model()
    scip.hideOutput()
    scip.setParam("limits/gap", 1e-7)
    scip.setParam("limits/time", 120.0)
    scip.setParam("numerics/feastol", 1e-8)
    b = [scip.addVar(lb=-big, ub=big) for _ in range(p)]
    z = [scip.addVar(vtype="B") for _ in range(p)]
    r = [scip.addVar(lb=None) for _ in range(n)]
    t, intercept = scip.addVar(lb=0.0), scip.addVar(lb=None)
    s = [scip.addVar(lb=0.0) for _ in range(p)]
    for i in range(n):
        scip.addCons(r[i] == y[i] - intercept - quicksum(X[i, j] * b[j] for j in range(p)))
    for j in range(p):
        scip.addCons(b[j] <= big * z[j])
        scip.addCons(b[j] >= -big * z[j])
        scip.addCons(b[j] * b[j] <= s[j] * z[j])
    scip.addCons(quicksum(z) <= k)
    scip.addCons(quicksum(r[i] * r[i] for i in range(n)) <= 2.0 * n * t)
    scip.setObjective(t + lambda_0 * quicksum(z) + lambda_2 * quicksum(s), "minimize")
    scip.optimize()
    assert scip.getStatus() in ("optimal", "gaplimit"), scip.getStatus()
    return scip.getObjVal()


def both(seed, n, p, loss, lambda_0, shrinkage, k):
    X, y = draw(seed, n, p, loss)
    name = "lambda_1" if loss == "hinge" else "lambda_2"
    sol = ez.solve(X, y, loss=loss, lambda_0=lambda_0, k=k, gap=1e-7, n_jobs=1, **{name: shrinkage})
    big = 1.5 * np.abs(sol.coef).max(initial=0.0) + 0.2
    other = (solve_hinge if loss == "hinge" else solve_squares)(X, y, lambda_0, shrinkage, p if k is None else k, big)
    assert sol.objective == pytest.approx(other, rel=1e-5), (seed, sol.status)
    assert sol.lower_bound <= other * (1.0 + 1e-6), (seed, sol.status)
    assert sol.status == "optimal", (seed, sol.gap)
    return sol


@pytest.mark.parametrize(
    ("seed", "n", "p", "lambda_0", "lambda_1", "k"),
    [
        *((seed, 40, 50, 0.0, 0.1, 2) for seed in (0, 1, 2)),
        *((seed, 40, 50, 0.05, 0.1, 3) for seed in (3, 4, 5)),
        *((seed, 40, 50, 0.2, 0.05, None) for seed in (0, 6)),
        (7, 50, 60, 0.0, 0.1, 2),
        (0, 60, 100, 0.0, 0.1, 2),
    ],
)
def test_hinge_is_a_milp(seed, n, p, lambda_0, lambda_1, k):
    both(seed, n, p, "hinge", lambda_0, lambda_1, k)


@pytest.mark.parametrize(
    ("seed", "n", "p", "lambda_0", "lambda_2", "k"),
    [
        *((seed, 40, 50, 0.0, 0.5, 3) for seed in (0, 1, 2, 3)),
        *((seed, 40, 50, 0.1, 0.5, 2) for seed in (4, 5)),
        (0, 40, 50, 0.5, 0.3, None),
        (6, 50, 60, 0.1, 0.5, 2),
        (1, 60, 100, 0.1, 0.5, 2),
        (1, 60, 80, 0.0, 0.5, 3),
    ],
)
def test_squared_error_is_a_miqp(seed, n, p, lambda_0, lambda_2, k):
    both(seed, n, p, "squared_error", lambda_0, lambda_2, k)
