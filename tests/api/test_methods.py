"""What the exact methods take and refuse, how they end early, and what they make of solvers that fail."""

import re
import sys
import time
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from support.exact_problems import ENDLESS_SETTINGS, endless_problem
from support.interruption import PROMPT, interrupt
from support.problems import random_problem, target

import ellzero as ez
from ellzero.exact.mip import mip_search
from ellzero.exact.mip.backends import BACKENDS, Backend, MipResult, get_backend
from ellzero.exact.search_log import SearchProgress

X, RESPONSE, _ = random_problem(1, n=40, p=12)
Y = target(RESPONSE, "logistic")
# Small, but the root's bound is 5 % off.
SETTINGS = {"lambda_0": 0.04, "lambda_2": 0.01}
METHODS = [("bnb", "builtin"), ("iga", "builtin"), ("iga", "highs"), ("iga", "scip"), ("mip", "highs"), ("mip", "scip")]
BEST = ez.solve(X, Y, gap=1e-7, **SETTINGS)
ROOT = ez.solve(X, Y, node_limit=1, **SETTINGS).lower_bound

# Bad arguments --------------------------------------------------------------------------------------------------------

BAD_SOLVE = {
    "method": ({"method": "simplex"}, "method must be one of"),
    "method of another type": ({"method": None}, "method must be one of"),
    "backend": ({"method": "iga", "backend": "cplex"}, "backend must be one of"),
    "mip by no solver": ({"method": "mip"}, "backend must be one of 'highs', 'scip', 'gurobi' for method='mip', got 'builtin'"),
    "bnb by a solver": ({"backend": "highs"}, "backend must be one of 'builtin' for method='bnb', got 'highs'"),
    "zero grow": ({"method": "iga", "grow": 0}, "grow must be a number of features or a share between 0 and 1, got 0"),
    "fractional grow": ({"method": "iga", "grow": 2.5}, "grow must be a number of features or a share"),
    "negative grow": ({"method": "iga", "grow": -1}, "grow must be"),
    "nan grow": ({"method": "iga", "grow": np.nan}, "grow must be"),
    "text grow": ({"method": "iga", "grow": "all"}, "grow must be"),
    "node_limit of a solver": (
        {"method": "iga", "backend": "highs", "node_limit": 5},
        "node_limit belongs to backend='builtin', got backend='highs'",
    ),
    "checkpoint of a solver": (
        {"method": "mip", "backend": "scip", "checkpoint": "here.npz"},
        "checkpoint belongs to backend='builtin', got backend='scip'",
    ),
    "no bound": ({"method": "mip", "backend": "highs", "lambda_2": 0.0}, "add, for example, lambda_2=1e-3"),
}
BAD_IMPROVE = {
    "no lambda_0": ({"lambda_0": None}, "lambda_0 must be given unless start is a model of a path"),
    "no lambda_0 with coefficients": ({"lambda_0": None, "start": np.zeros(12)}, "lambda_0 must be given"),
    "lambda_0 of a size": ({"lambda_0": None, "start": ez.fit_sizes(X, Y, [2])[2]}, "lambda_0 must be given"),
    "negative lambda_0": ({"lambda_0": -1.0}, "lambda_0 must be finite and not negative"),
    "zero swap_size": ({"swap_size": 0}, "swap_size must be an integer of at least 1"),
    "fractional swap_size": ({"swap_size": 1.5}, "swap_size must be an integer"),
    "text swap_size": ({"swap_size": "2"}, "swap_size must be an integer"),
    "short start": ({"start": np.zeros(11)}, "start must"),
    "start of other data": ({"start": ez.fit_path(X[:, :5], Y)[0]}, "start must have 12 coefficients, got 5"),
    "nan start": ({"start": np.full(12, np.nan)}, "start"),
    "method": ({"method": "swap"}, "method must be one of"),
    "backend": ({"method": "mip", "backend": "builtin"}, "backend must be one of"),
    "node_limit of a solver": ({"method": "iga", "backend": "scip", "node_limit": 5}, "node_limit belongs to"),
}
BAD_PATH = {
    "cd": ({"swap_size": 2}, "swap_size belongs to algorithm='local_search', got algorithm='cd'"),
    "iht": ({"swap_size": 2, "algorithm": "iht"}, "swap_size belongs to algorithm='local_search', got algorithm='iht'"),
    "zero": ({"swap_size": 0, "algorithm": "local_search"}, "swap_size must be an integer of at least 1"),
    "fraction": ({"swap_size": 1.5, "algorithm": "local_search"}, "swap_size must be an integer"),
}
BAD = [
    pytest.param(function, common, *case, id=f"{function.__name__}: {name}")
    for function, common, cases in (
        (ez.solve, SETTINGS, BAD_SOLVE),
        (ez.improve, {**SETTINGS, "start": None}, BAD_IMPROVE),
        (ez.fit_path, {}, BAD_PATH),
    )
    for name, case in cases.items()
]


@pytest.mark.parametrize(("function", "common", "settings", "message"), BAD)
def test_bad_arguments(function, common, settings, message):
    with pytest.raises(ez.InvalidInputError, match=re.escape(message)) as caught:
        function(**{"X": X, "y": Y, **common, **settings})
    assert "\n" not in str(caught.value)
    assert str(caught.value).count(". ") == 0


@pytest.mark.parametrize("name", BACKENDS)
def test_a_missing_solver_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, BACKENDS[name], None)
    monkeypatch.delitem(sys.modules, f"ellzero.exact.mip.{name}", raising=False)
    get_backend.cache_clear()
    for method in ("iga", "mip"):
        with pytest.raises(ez.InvalidInputError) as caught:
            ez.solve(X, Y, method=method, backend=name, **SETTINGS)
        assert str(caught.value) == f"backend {name!r} needs {BACKENDS[name]}; install it with: pip install 'ellzero[{name}]'."
    assert ez.solve(X, Y, method="iga", **SETTINGS).status == "optimal"
    get_backend.cache_clear()


@pytest.mark.parametrize("backend", BACKENDS)
def test_coefficients_too_large_for_the_tolerances(backend):
    settings = {"lambda_0": 0.01, "lambda_2": 1e-12}
    with pytest.raises(ez.InvalidInputError, match=f"bound: coefficients may be as large as .* of backend='{backend}'"):
        ez.solve(X, Y, method="mip", backend=backend, **settings)
    # A smaller bound or a method without big M is the way out, as the message says.
    assert ez.solve(X, Y, method="mip", backend=backend, bound=1.0, time_limit=0.5, **settings).lower_bound > 0.0


# Solvers that fail ----------------------------------------------------------------------------------------------------


class Fake(Backend):
    """The real solver for some calls; then `answer` is what it says."""

    name, native, tolerance, version = "fake", frozenset(), 1e-9, "Fake 1.0"

    def __init__(self, answer, after):
        self.real, self.answer, self.left = get_backend("highs"), answer, after

    def load(self, program, start, limits):
        self.left -= 1
        if self.left >= 0:
            return self.real.load(program, start, limits)
        self.program = program
        return self

    def run(self):
        pass

    def stop(self):
        pass

    def result(self):
        return self.answer(self.program)


def raises(program):
    raise RuntimeError("out of memory\nsomewhere")


def says(status, fill=None, bound=-np.inf, message=""):
    return lambda program: MipResult(status, None if fill is None else np.full(program.size, fill), bound, message=message)


ANSWERS = {
    "trouble": (says("failed", message="Fake says: numbers"), "failed", "Fake says: numbers"),
    "exception": (raises, "failed", "out of memory"),
    "time": (says("time_limit", bound=1e-6), "time_limit", ""),
    "interrupted": (says("interrupted"), "interrupted", ""),
    "nothing": (says("optimal", bound=1e-6), "failed", "it names no optimal point"),
    "nan": (says("optimal", np.nan, np.nan), "failed", "its point is not finite"),
    "ones": (says("optimal", 1.0, 1e-6), "failed", "its point violates the program"),
    "zeros": (says("optimal", 0.0, 1e-6), "failed", "its point violates the program"),
}


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("method", ["iga", "mip"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_solver_that_fails(answer, method, after, monkeypatch):
    """The solution and the bound from before are kept; neither is made of what the solver said last."""
    says_what, status, message = ANSWERS[answer]
    monkeypatch.setattr(mip_search, "get_backend", lambda name: Fake(says_what, after))
    solution = ez.solve(X, Y, method=method, backend="highs", time_limit=30.0, **SETTINGS)
    assert solution.status == status, solution.message
    assert message in solution.message
    assert "\n" not in solution.message
    assert solution.objective == pytest.approx(BEST.objective, rel=1e-2)
    assert ROOT * (1.0 - 1e-9) <= solution.lower_bound <= BEST.objective
    assert (solution.prover is None) == (solution.lower_bound <= ROOT * (1.0 + 1e-9))
    assert solution.prover in (None, f"Fake 1.0 (method {method})")
    if solution.prover is not None:
        assert solution.message in repr(solution)
    report = ez.verify(solution.certificate, X, Y)
    assert report.lower_bound == pytest.approx(ROOT, rel=1e-9)
    assert report.valid == (solution.prover is None), report.reasons


@pytest.mark.parametrize("method", ["iga", "mip"])
def test_a_solver_that_finds_no_solution_where_there_is_one(method, monkeypatch):
    monkeypatch.setattr(mip_search, "get_backend", lambda name: Fake(says("infeasible", message="Fake says: infeasible"), 0))
    solution = ez.solve(X, Y, method=method, backend="highs", **SETTINGS)
    assert (solution.status, solution.message) == ("failed", "Fake says: infeasible")
    assert solution.lower_bound == pytest.approx(ROOT, rel=1e-9)
    assert solution.prover is None


@pytest.mark.parametrize("status", ["optimal", "time_limit", "failed"])
def test_a_bound_above_a_known_solution(status, monkeypatch):
    monkeypatch.setattr(mip_search, "get_backend", lambda name: Fake(says(status, bound=1e8), 2))
    solution = ez.solve(X, Y, method="mip", backend="highs", **SETTINGS)
    assert solution.status == "failed"
    assert solution.lower_bound <= BEST.objective


@pytest.mark.parametrize("method", ["iga", "mip"])
def test_improving_with_a_solver_that_fails(method, monkeypatch):
    monkeypatch.setattr(mip_search, "get_backend", lambda name: Fake(says("failed", message="no licence"), 0))
    start = np.zeros(12)
    start[8:] = 0.1
    solution = ez.improve(X, Y, start, method=method, backend="highs", **SETTINGS)
    assert (solution.status, solution.message) == ("failed", "no licence")
    assert solution.objective <= ez.objective(X, Y, start, 0.0, **SETTINGS)
    assert 0.0 < solution.lower_bound <= solution.objective
    assert solution.swap_size == 2


# Assumptions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "backend"), METHODS[:-1])
def test_a_bound_that_cuts_off_the_best(method, backend):
    solution = ez.solve(X, Y, method=method, backend=backend, bound=0.1, gap=1e-4, lambda_0=0.005)
    assert solution.status == "optimal"
    assert np.abs(solution.coef).max() <= 0.1
    free = ez.solve(X, Y, bound=50.0, lambda_0=0.005)
    assert solution.lower_bound > free.objective * 1.01, "the bound cuts nothing off"
    assert solution.certificate.conditional
    assert "assuming bounded coefficients" in repr(solution)
    report = ez.verify(solution.certificate, X, Y)
    assert report.conditional
    assert any("conditional on |beta_j| <= 0.1" in reason for reason in report.reasons)


# Limits ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "backend"), METHODS)
@pytest.mark.parametrize("seconds", [0.0, 1e-6, 0.3])
def test_time_limit(method, backend, seconds):
    data, labels = endless_problem()
    begin = time.process_time()
    solution = ez.solve(data, labels, method=method, backend=backend, bound=5.0, time_limit=seconds, **ENDLESS_SETTINGS)
    assert time.process_time() - begin < seconds + PROMPT
    assert solution.status == "time_limit", solution.message
    assert 0.0 <= solution.lower_bound < solution.objective
    assert solution.history == [] or solution.history[-1].objective == pytest.approx(solution.objective, rel=1e-9)
    assert list(solution.to_frame().columns) == COLUMNS
    ax = solution.plot()
    assert ax.lines
    plt.close(ax.figure)
    report = ez.verify(solution.certificate, data, labels)
    assert report.valid == (solution.prover is None), report.reasons


@pytest.mark.parametrize("seconds", [0.0, 0.3])
@pytest.mark.parametrize("start", [None, np.zeros(200)])
def test_time_limit_of_swaps(seconds, start):
    data, labels = endless_problem()
    begin = time.process_time()
    solution = ez.improve(data, labels, start, swap_size=5, time_limit=seconds, **ENDLESS_SETTINGS)
    assert time.process_time() - begin < seconds + PROMPT
    assert solution.status == "time_limit"
    assert ez.verify(solution.certificate, data, labels).valid


INTERRUPTED = """
    import signal
    import numpy as np
    import ellzero as ez
    from support.exact_problems import endless_problem
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with Ctrl-C ignored
    X, y = endless_problem()
    settings = dict(loss="squared_hinge", lambda_0=0.003, lambda_2=0.001, bound=5.0, method={method!r}, backend={backend!r})
    settings["time_limit"] = 0.0
    {call}  # so that all modules are there: on a busy machine, importing them takes seconds
    del settings["time_limit"]
    print("solving", flush=True)
    sol = {call}
    print(sol.status, flush=True)
    null = ez.objective(X, y, np.zeros(200), 0.0, loss="squared_hinge", lambda_0=0.003, lambda_2=0.001)
    report = ez.verify(sol.certificate, X, y)
    print(report.valid == (sol.prover is None), 0.0 <= sol.lower_bound <= sol.objective <= null, flush=True)
"""
SOLVE, IMPROVE = "ez.solve(X, y, **settings)", "ez.improve(X, y, swap_size=10, **settings)"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(
    ("method", "backend", "call", "seconds"),
    [
        ("iga", "builtin", SOLVE, 1.5),
        ("iga", "highs", SOLVE, 2.5),
        ("iga", "scip", SOLVE, 2.5),
        ("mip", "highs", SOLVE, 2.5),
        ("mip", "highs", SOLVE, 0.2),
        ("iga", "highs", IMPROVE, 2.5),
        ("bnb", "builtin", IMPROVE, 0.1),
        ("bnb", "builtin", IMPROVE, 1.5),
    ],
)
def test_ctrl_c_returns_what_is_known(method, backend, call, seconds):
    """At different times, that is in local search, in the convex relaxations or in the solver."""
    interrupt(INTERRUPTED.format(method=method, backend=backend, call=call), seconds, "True True")


@pytest.mark.parametrize("grow", [1, 10])
def test_iga_goes_on_from_a_checkpoint(tmp_path, grow):
    """In steps of some nodes: the same search as without steps."""
    X, response, _ = random_problem(3, n=60, p=20)
    Y, path = target(response, "logistic"), tmp_path / "search.npz"
    settings = {"method": "iga", "grow": grow, "lambda_0": 0.005, "lambda_2": 0.003, "gap": 1e-5, "n_jobs": 1}
    whole = ez.solve(X, Y, **settings)
    assert whole.nodes > 25, "too easy to tell anything"
    sizes = []
    for step in range(1, 1000):
        solution = ez.solve(X, Y, node_limit=15 * step, checkpoint=path, **settings)
        sizes.append(solution.history[-1].integral)
        assert ez.verify(solution.certificate, X, Y).valid, step
        assert path.exists() == (solution.status == "node_limit"), step
        if solution.status != "node_limit":
            break
    assert step > 1
    assert sizes == sorted(sizes)
    assert solution.status == whole.status == "optimal"
    assert solution.objective == pytest.approx(whole.objective, rel=1e-12)
    assert solution.lower_bound == pytest.approx(whole.lower_bound, rel=1e-12)
    assert (solution.nodes, sizes[-1]) == (whole.nodes, whole.history[-1].integral)
    ez.solve(X, Y, node_limit=5, checkpoint=path, **settings)
    with pytest.raises(ez.InvalidInputError, match=r"checkpoint .* belongs to another problem"):
        ez.solve(X, Y, checkpoint=path, **{**settings, "method": "bnb"})


# What is told ---------------------------------------------------------------------------------------------------------

COLUMNS = ["objective", "lower_bound", "gap", "nodes", "open", "seconds", "iteration", "integral"]


@pytest.mark.parametrize(("method", "backend"), METHODS[:-1])
def test_history(method, backend):
    solution = ez.solve(X, Y, method=method, backend=backend, **SETTINGS)
    frame = solution.to_frame()
    assert list(frame.columns) == COLUMNS
    assert len(frame) == len(solution.history) >= 1
    assert frame.lower_bound.is_monotonic_increasing
    assert frame.objective.is_monotonic_decreasing
    assert (frame.integral.max() > 0) == (method == "iga")
    assert (frame.iteration.max() > 0) == (method != "bnb")
    before = frame.copy()
    ax = solution.plot()
    assert {"objective of the best solution", "lower bound"} <= set(ax.get_legend_handles_labels()[1])
    assert len(ax.lines) >= 2
    np.testing.assert_allclose(ax.lines[0].get_ydata()[-1], solution.objective)
    np.testing.assert_allclose(ax.lines[1].get_ydata()[-1], solution.lower_bound)
    assert solution.plot(ax) is ax
    assert solution.to_frame().equals(before)
    ax.figure.canvas.draw()
    plt.close(ax.figure)
    text = repr(solution)
    assert f"{solution.nodes} nodes" in text
    assert ("the bound is that of" in text) == (solution.prover is not None)
    if solution.prover is not None:
        assert solution.prover in text
        assert backend in solution.prover.lower()
        assert f"method {method}" in solution.prover


@pytest.mark.parametrize(("method", "backend"), METHODS[1:-1])
def test_progress(method, backend):
    seen = []
    solution = ez.solve(X, Y, method=method, backend=backend, progress=seen.append, **SETTINGS)
    assert len(seen) >= 2
    assert all(isinstance(now, SearchProgress) for now in seen)
    for before, after in pairwise(seen):
        assert after.objective <= before.objective
        assert after.lower_bound >= before.lower_bound
        assert (after.iteration, after.integral) >= (before.iteration, before.integral)
    assert seen[-1].objective == pytest.approx(solution.objective, rel=1e-9)
    assert (seen[-1].integral > 0) == (method == "iga")
    assert backend == "builtin" or seen[-1].iteration > 0

    def fail(_):
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        ez.solve(X, Y, method=method, backend=backend, progress=fail, **SETTINGS)


def test_progress_lines_tell_the_set(capsys, monkeypatch):
    monkeypatch.setattr("ellzero.base.progress.SECONDS_IN_SILENCE", -1.0)
    data, labels = endless_problem()
    ez.solve(data, labels, method="iga", time_limit=1.5, progress=True, **ENDLESS_SETTINGS)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    for line in lines:
        assert re.match(
            r"ellzero: exact search: gap at most \S+ % \(found [\d.e+-]+, none below \S+\), \d+ features made integral, ", line
        ), line


@pytest.mark.parametrize(("method", "backend"), [*METHODS[:-1], ("iga", "gurobi"), ("mip", "gurobi")])
def test_two_threads(method, backend):
    one, two = (ez.solve(X, Y, method=method, backend=backend, n_jobs=n_jobs, **SETTINGS) for n_jobs in (1, 2))
    assert one.status == two.status == "optimal"
    for solution in (one, two):
        assert solution.objective == pytest.approx(BEST.objective, rel=1.1e-4)
        assert solution.lower_bound <= BEST.objective * (1.0 + 1e-9)
