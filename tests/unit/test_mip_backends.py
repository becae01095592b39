"""Every MIP solver on programs whose answer is known, and on what can go wrong."""

import builtins
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.interruption import PROMPT, interrupt

from ellzero.base.errors import InvalidInputError
from ellzero.exact.mip import backends
from ellzero.exact.mip.backends import BACKENDS, Backend, MipResult, get_backend
from ellzero.exact.mip.outer_approximation import solve_program
from ellzero.exact.mip.program import Builder


def knapsack(n=3, seed=None):
    """Maximise values under one weight limit; the small one has the optimum -9 at (1, 0, 1)."""
    build = Builder()
    if seed is None:
        values, weights, limit = np.array([5.0, 3.0, 4.0]), np.array([[2.0, 3.0, 1.0]]), np.array([4.0])
    else:
        rng = np.random.default_rng(seed)
        weights = rng.integers(1, 1000, (20, n)).astype(float)
        values, limit = rng.integers(1, 1000, n).astype(float), weights.sum(axis=1) / 2.0
    x = build.add(n, cost=-values, lower=0.0, upper=1.0, integer=True)
    build.require([(x, weights)], upper=limit)
    return build.build([], [])


def curved(softplus=False):
    """min 0.3 z + q + f(u) with x + u = 2, 0 <= x <= 3 z, x^2 <= q; f(u) = u^2 or log(1 + exp(u))."""
    build = Builder()
    x, z = build.add(1, upper=3.0), build.add(1, cost=0.3, lower=0.0, upper=1.0, integer=True)
    q, u, t = build.add(1, cost=1.0, lower=0.0), build.add(1), build.add(1, cost=1.0, lower=0.0)
    build.require([(x, np.ones(1)), (u, np.ones(1))], lower=2.0, upper=2.0)
    build.require([(x, np.ones(1)), (z, [[-3.0]])], upper=0.0)
    square = np.array([[q.start, x.start]])
    if softplus:
        return build.build([square], [np.array([[t.start, u.start]])])
    return build.build([square, np.array([[t.start, u.start]])], [])


@pytest.fixture(params=BACKENDS)
def backend(request):
    return get_backend(request.param)


def test_milp(backend):
    found = backend.solve(knapsack(), gap=0.0)
    assert found.status == "optimal"
    np.testing.assert_allclose(found.x, [1.0, 0.0, 1.0], atol=1e-8)
    assert found.lower_bound == pytest.approx(-9.0, abs=1e-7)
    started = backend.solve(knapsack(), start=np.array([1.0, 0.0, 1.0]), gap=0.0)
    assert (started.status, knapsack().value(started.x)) == ("optimal", pytest.approx(-9.0))


def test_lp_with_ranges_equations_and_small_costs(backend):
    build = Builder()
    x = build.add(3, cost=1e-4 * np.array([1.0, 2.0, -1.0]), lower=np.array([-np.inf, 0.0, -1.0]), upper=5.0)
    build.require([(x, [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])], lower=[1.0, -2.0, -np.inf], upper=[1.0, 4.0, 3.5])
    found = backend.solve(build.build([], []), gap=1e-6)
    assert found.status == "optimal"
    np.testing.assert_allclose(found.x, [1.0, 0.0, 3.5], atol=1e-7)
    assert found.lower_bound == pytest.approx(-2.5e-4, rel=1e-6)


@pytest.mark.parametrize("tiny", [5e-9, -5e-9, 1e-7, -1e-7, 1e-10])
def test_coefficients_near_the_tolerance(backend, tiny):
    build = Builder()
    t, z = build.add(1, cost=1.0, lower=0.0), build.add(2, lower=0.0, upper=1.0, integer=True)
    build.require([(t, np.ones((1, 1))), (z, [[0.13, tiny]])], lower=0.28)
    build.require([(z, [[0.0, 1.0]])], lower=1.0)
    found = backend.solve(build.build([], []), gap=1e-9)
    assert found.status == "optimal"
    assert found.lower_bound == pytest.approx(0.15, abs=1e-6)


def test_squares(backend):
    program = curved()
    found = solve_program(backend, program, gap=1e-6)
    assert found.status == "optimal"
    assert program.value(found.x) == pytest.approx(2.3, abs=1e-5)  # x = u = 1
    assert 2.3 - 1e-5 <= found.lower_bound <= 2.3 + 1e-7
    assert program.violation(found.x) <= 1e-7


def test_softplus(backend):
    program = curved(softplus=True)
    found = solve_program(backend, program, gap=1e-6)
    grid = np.linspace(0.0, 3.0, 100_001)
    best = min((0.3 + grid**2 + np.logaddexp(0.0, 2.0 - grid)).min(), np.logaddexp(0.0, 2.0))
    assert found.status == "optimal"
    assert program.value(found.x) == pytest.approx(best, abs=1e-5)
    assert best - 1e-5 <= found.lower_bound <= best + 1e-7


def test_infeasible(backend):
    program = replace(knapsack(), row_lower=np.array([7.0]), row_upper=np.array([8.0]))
    found = backend.solve(program)
    assert (found.status, found.x) == ("infeasible", None)
    assert "infeasible" in found.message.lower()
    bent = replace(curved(), row_lower=np.array([9.0, 5.0]), row_upper=np.array([9.0, 6.0]))
    assert solve_program(backend, bent).status == "infeasible"


def test_unbounded_is_a_failure(backend):
    found = backend.solve(replace(knapsack(), upper=np.full(3, np.inf), row_upper=np.array([np.inf])))
    assert (found.status, found.lower_bound) == ("failed", -np.inf)
    assert found.message


def test_time_limit(backend):
    begin = time.process_time()
    program = knapsack(300, seed=0)
    found = backend.solve(program, gap=0.0, seconds=0.5)
    assert time.process_time() - begin < PROMPT
    assert found.status == "time_limit"
    assert found.x is not None
    assert program.violation(found.x) <= 1e-6
    assert found.lower_bound < program.value(found.x)


def test_quiet(backend, capfd):
    solve_program(backend, curved(softplus=True), gap=1e-6)
    assert backend.version.split()[0].lower() == backend.name
    assert capfd.readouterr() == ("", "")


def test_what_a_solver_raises_is_a_failure(backend, monkeypatch):
    monkeypatch.setattr(type(backend), "load", lambda *_: 1 / 0)
    found = backend.solve(knapsack())
    assert (found.status, found.x, found.message) == ("failed", None, "division by zero")


class Stubborn(Backend):
    """A solver that raises, or that ends late or never."""

    name, native, tolerance, version = "stubborn", frozenset(), 1e-9, "none"

    def __init__(self, seconds=0.0, obeys=True, error=None):
        self.seconds, self.obeys, self.error, self.stopped = seconds, obeys, error, threading.Event()

    def load(self, program, start, limits):
        return self

    def run(self):
        if self.error:
            raise self.error
        (self.stopped.wait if self.obeys else time.sleep)(self.seconds)

    def stop(self):
        self.stopped.set()

    def result(self):
        return MipResult("interrupted", np.array([1.0, 0.0, 1.0]), -9.0)


def test_run_that_raises():
    found = Stubborn(error=RuntimeError("out of memory\nat line 3")).solve(knapsack())
    assert (found.status, found.message) == ("failed", "out of memory")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (MipResult("optimal", None, -9.0), "it names no optimal point"),
        (MipResult("optimal", np.array([1.0, np.nan, 1.0]), -9.0), "its point is not finite"),
        (MipResult("optimal", np.ones(3), -12.0), "its point violates the program by 1"),
        (MipResult("time_limit", np.array([0.5, 0.0, 1.0]), -9.0), "its point violates the program by 0.25"),
    ],
)
def test_answers_that_contradict_themselves(answer, message):
    solver = Stubborn()
    solver.result = lambda: answer
    found = solver.solve(knapsack())
    assert (found.status, found.x, found.lower_bound) == ("failed", None, -np.inf)
    assert found.message == f"the solver cannot be trusted: {message}"


def test_overshoot_is_stopped(monkeypatch):
    monkeypatch.setattr(backends, "OVERSHOOT", 0.1)
    solver = Stubborn(seconds=250.0)
    found = solver.solve(knapsack(), seconds=0.1)
    assert solver.stopped.is_set()
    assert found.status == "time_limit"
    assert found.x is not None
    monkeypatch.setattr(backends, "PATIENCE", 0.1)
    found = Stubborn(seconds=5.0, obeys=False).solve(knapsack(), seconds=0.1)
    assert (found.status, found.x) == ("time_limit", None)
    assert found.message == "the solver did not stop when asked to"


def test_refused_stop_is_asked_again(monkeypatch):
    """SCIP cannot be interrupted while it restarts."""
    monkeypatch.setattr(backends, "OVERSHOOT", 0.1)
    solver, refusals = Stubborn(seconds=30.0), iter([RuntimeError("not now")] * 3)

    def stop():
        for refusal in refusals:
            raise refusal
        solver.stopped.set()

    solver.stop = stop
    found = solver.solve(knapsack(), seconds=0.1)
    assert (found.status, found.lower_bound, next(refusals, None)) == ("time_limit", -9.0, None)


INTERRUPTED = """
    import signal, sys
    sys.path.insert(0, {here!r})
    from test_mip_backends import knapsack
    from ellzero.exact.mip import backends
    from ellzero.exact.mip.backends import get_backend
    backends.KEYBOARD_PATIENCE = {prompt}  # one second may pass before a busy machine lets the solver listen
    signal.signal(signal.SIGINT, signal.default_int_handler)
    backend, program = get_backend({name!r}), knapsack(300, seed=0)
    print("solving", flush=True)
    found = backend.solve(program, gap=0.0)
    assert found.x is not None and program.violation(found.x) < 1e-6
    assert -1e9 < found.lower_bound <= program.value(found.x)
    print(found.status, flush=True)
    print(backend.solve(knapsack()).status, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("name", BACKENDS)
def test_ctrl_c(name):
    """It ends promptly with a point and a bound, and the solver goes on working."""
    interrupt(INTERRUPTED.format(name=name, prompt=PROMPT, here=str(Path(__file__).parent)), 1.0, "optimal")


@pytest.mark.parametrize(("name", "package"), BACKENDS.items())
def test_missing_package(name, package, monkeypatch):
    real = builtins.__import__
    get_backend.cache_clear()
    monkeypatch.delitem(sys.modules, f"ellzero.exact.mip.{name}", raising=False)

    def refuse(module, *rest, **more):
        if module.split(".")[0] == package:
            raise ImportError(module)
        return real(module, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InvalidInputError) as caught:
        get_backend(name)
    assert str(caught.value) == f"backend '{name}' needs {package}; install it with: pip install 'ellzero[{name}]'."
    monkeypatch.undo()
    assert get_backend(name).name == name


def test_unknown_backend():
    with pytest.raises(InvalidInputError, match="backend must be one of 'highs', 'scip', 'gurobi', got 'cplex'"):
        get_backend("cplex")


def test_gurobi_small_licence():
    """A model that the licence of the package does not allow is a failure with a reason; squares go round its tighter limit."""
    gurobi = get_backend("gurobi")
    if not gurobi.size_limited:
        pytest.skip("this Gurobi has a full licence")
    found = gurobi.solve(knapsack(2001, seed=0))
    assert (found.status, found.x) == ("failed", None)
    assert "size-limited license" in found.message
    build = Builder()
    build.add(150, lower=1.0)
    q = build.add(150, cost=1.0 / 150.0, lower=0.0)
    program = build.build([np.stack([np.arange(q.start, q.stop), np.arange(150)], axis=1)], [])
    assert (gurobi.takes(curved()), gurobi.takes(program)) == ({"square"}, frozenset())
    assert program.value(solve_program(gurobi, program).x) == pytest.approx(1.0)
