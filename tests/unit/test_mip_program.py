"""The program as data: tangents, lifting, rows, and outer approximation with a solver that does what it is told."""

import numpy as np
import pytest
from scipy import sparse

from ellzero.exact.mip.backends import Backend, MipResult
from ellzero.exact.mip.outer_approximation import solve_program
from ellzero.exact.mip.program import Builder


def both_terms():
    """min z + q + t over x >= z ... with a square x^2 <= q and t >= log(1 + exp(u)), u + x >= 1."""
    build = Builder()
    x = build.add(2, lower=-2.0, upper=3.0)
    z = build.add(2, cost=0.1, lower=0.0, upper=1.0, integer=True)
    q = build.add(2, cost=1.0, lower=0.0)
    t = build.add(2, cost=1.0, lower=0.0)
    u = build.add(2)
    build.require([(x, np.ones(2)), (z, -3.0 * np.ones(2))], upper=0.0)
    build.require([(x, np.ones(2)), (z, 2.0 * np.ones(2))], lower=0.0)
    build.require([(u, np.ones(2)), (x, np.ones(2))], lower=np.array([1.0, 2.0]), upper=np.array([np.inf, 2.0]))
    squares = np.stack([np.arange(q.start, q.stop), np.arange(x.start, x.stop)], axis=1)
    return build.build([squares], [np.stack([np.arange(t.start, t.stop), np.arange(u.start, u.stop)], axis=1)])


def random_point(program, seed):
    rng = np.random.default_rng(seed)
    point = rng.uniform(-2.0, 2.0, program.size)
    point[2:4] = rng.uniform(0.1, 1.0, 2)
    return point


@pytest.mark.parametrize("seed", range(5))
def test_tangents_touch_at_their_point_and_stay_below(seed):
    program = both_terms().relaxed()
    at = program.lifted(random_point(program, seed))
    rows, limit = program.tangents(at, np.ones(len(program.heads()), dtype=bool))
    np.testing.assert_allclose(rows @ at, limit, atol=1e-12)
    for other in range(100, 140):
        lifted = program.lifted(random_point(program, other))
        assert (rows @ lifted >= limit - 1e-12).all()
        lifted[program.heads()] -= 1e4
        assert (rows @ lifted < limit).all()


def test_tangents_of_chosen_terms():
    program = both_terms()
    point = program.lifted(random_point(program, 0))
    every, limits = program.tangents(point, np.ones(len(program.heads()), dtype=bool))
    chosen = np.array([False, True, True, False])
    some, limit = program.tangents(point, chosen)
    assert (some != every[chosen]).nnz == 0
    np.testing.assert_array_equal(limit, limits[chosen])


def test_lifting():
    program = both_terms()
    point = np.array([2.0, 1e-10, 1.0 - 1e-10, 1e-10, 0.0, 0.0, 0.0, 0.0, -1.0, 2.0])
    lifted = program.lifted(point)
    np.testing.assert_allclose(lifted[4:6], [4.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(lifted[6:8], np.logaddexp(0.0, [-1.0, 2.0]))
    np.testing.assert_array_equal(lifted[2:4], [1.0, 0.0])
    assert program.value(lifted) == pytest.approx(0.1 + 4.0 + np.logaddexp(0.0, [-1.0, 2.0]).sum())
    assert program.violation(lifted) <= 1e-9
    np.testing.assert_allclose(program.shortfall(point)[[0, 2, 3]], lifted[[4, 6, 7]], rtol=1e-9)
    assert (program.shortfall(lifted) == 0.0).all()


@pytest.mark.parametrize(
    ("where", "value", "violation"),
    [(0, 3.5, 0.5), (2, 0.5, 0.5), (3, 1.25, 0.25), (8, -1.5, 0.5), (9, 3.0, 1.0), (4, 3.0, 1.0)],
)
def test_violation(where, value, violation):
    program = both_terms()
    point = program.lifted(np.array([2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 2.0]))
    assert program.violation(point) == 0.0
    point[where] = value
    if where in (8, 9):
        point[where - 2] = np.logaddexp(0.0, value)
    assert program.violation(point) >= violation - 1e-12


def test_rows_and_terms():
    program = both_terms()
    more = program.with_rows(sparse.csr_matrix(np.ones((1, program.size))), np.array([-1.0]), np.array([4.0]))
    assert more.rows.shape == (program.rows.shape[0] + 1, program.size)
    assert program.rows.shape[0] == 6
    assert (more.row_lower[-1], more.row_upper[-1]) == (-1.0, 4.0)
    assert len(program.with_terms({"square"}).softplus) == 0
    assert len(program.with_terms({"softplus"}).squares) == 0
    fixed = program.fixed(np.array([0.0, 0.0, 1.0 - 1e-8, 1e-9, *np.zeros(6)]))
    assert not fixed.integer.any()
    np.testing.assert_array_equal(fixed.lower[2:4], [1.0, 0.0])
    np.testing.assert_array_equal(fixed.upper[2:4], [1.0, 0.0])
    np.testing.assert_array_equal(program.rows[4:].toarray(), [[1, 0, 0, 0, 0, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]])


class Scripted(Backend):
    """Answers from a list."""

    name, native, tolerance, version = "scripted", frozenset(), 1e-9, "none"

    def __init__(self, answers):
        self.answers = list(answers)

    def load(self, program, start, limits):
        raise NotImplementedError

    def solve(self, program, *, start=None, gap=1e-4, seconds=np.inf, threads=1):
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer


POINT = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0])
COST = np.logaddexp(0.0, [1.0, 2.0]).sum()


def test_a_failure_keeps_what_is_known():
    program = both_terms()
    answers = [MipResult("optimal", POINT, 0.5), MipResult("failed", None, 0.75, message="the solver tripped")]
    found = solve_program(Scripted(answers), program, start=POINT)
    assert (found.status, found.message, found.lower_bound) == ("failed", "the solver tripped", 0.75)
    assert program.value(found.x) == pytest.approx(COST)
    assert program.violation(found.x) == 0.0


@pytest.mark.parametrize("status", ["time_limit", "interrupted", "failed"])
def test_relaxed_points_and_fixed_bounds_prove_nothing(status):
    """The first call relaxes the integers: its point is none. The third fixes them: its bound is none."""
    program = both_terms()
    fraction = np.array([0.0, 0.0, 0.4, 0.4, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0])
    found = solve_program(Scripted([MipResult(status, fraction, 0.25)]), program)
    assert (found.status, found.x, found.lower_bound) == (status, None, 0.25)
    relaxed, whole, fixed = (
        MipResult("optimal", program.lifted(fraction), 0.5),
        MipResult("optimal", POINT, 0.75),
        MipResult(status, POINT, 99.0),
    )
    found = solve_program(Scripted([relaxed, whole, fixed]), program)
    assert (found.status, found.lower_bound) == (status, 0.75)
    assert program.value(found.x) == pytest.approx(COST)


def test_an_interrupt_between_calls():
    found = solve_program(Scripted([MipResult("optimal", POINT, 0.5), KeyboardInterrupt()]), both_terms(), start=POINT)
    assert (found.status, found.lower_bound) == ("interrupted", 0.5)
    assert found.x is not None


def test_no_progress_ends():
    """A solver that proves nothing more although its point is exact."""
    exact = both_terms().lifted(POINT)
    reports = []
    found = solve_program(
        Scripted([MipResult("optimal", exact, 0.5)]), both_terms(), report=lambda *bounds: reports.append(bounds)
    )
    assert (found.status, found.lower_bound) == ("precision", 0.5)
    assert reports[-1] == (0.5, pytest.approx(COST))


def test_infeasible_and_no_time():
    found = solve_program(Scripted([MipResult("infeasible", None, np.inf, message="no")]), both_terms())
    assert (found.status, found.message, found.x) == ("infeasible", "no", None)
    found = solve_program(Scripted([]), both_terms(), start=POINT, seconds=0.0)
    assert found.status == "time_limit"
    assert found.x is not None


def test_a_start_that_is_not_feasible_is_not_an_answer():
    wrong = POINT.copy()
    wrong[0] = 2.0  # its switch is off
    found = solve_program(Scripted([MipResult("failed", None, -np.inf)]), both_terms(), start=wrong)
    assert (found.status, found.x) == ("failed", None)
