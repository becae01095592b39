"""SCIP: mixed integer programs with convex terms."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from pyscipopt import Model, exp, quicksum

from ellzero.exact.mip.backends import Array, Backend, MipLimits, MipResult, MipStatus, in_solver_words
from ellzero.exact.mip.program import Program

STATUS: dict[Any, MipStatus] = {
    "optimal": "optimal",
    "gaplimit": "optimal",
    "timelimit": "time_limit",
    "userinterrupt": "interrupted",
    "infeasible": "infeasible",
}
LISTENING = ("PRESOLVING", "SOLVING")
"""The stages in which SCIP can be interrupted; in others, as before a restart, it would complain on stderr."""


class ScipSession:
    """One model in SCIP."""

    def __init__(self, program: Program, start: Array | None, limits: MipLimits, tolerance: float) -> None:
        self.model = Model()
        self.model.hideOutput()
        options = {
            "misc/catchctrlc": False,  # otherwise SCIP replaces Python's handler
            "nlp/disable": True,  # its NLP solver was seen to end the whole process; cuts replace it
            "numerics/feastol": tolerance,
            "constraints/nonlinear/tightenlpfeastol": False,  # the LP solver would refuse it and print so
            # With coefficients near the tolerance and a slack without an upper limit, this turned an optimum of 0.14 into 1e8.
            "constraints/linear/singletonstuffing": False,
            "limits/gap": limits.gap,
            "limits/time": min(limits.seconds, 1e20),  # SCIP's infinity
        }
        for name, value in options.items():
            self.model.setParam(name, value)
        self.x = add_variables(self.model, program)
        add_rows(self.model, program, self.x, time.monotonic() + limits.seconds)
        add_terms(self.model, program, self.x)
        if start is not None:
            solution = self.model.createSol()
            for variable, value in zip(self.x, start.tolist(), strict=True):
                self.model.setSolVal(solution, variable, value)
            self.model.addSol(solution)

    def run(self) -> None:
        """Solve the model."""
        self.model.optimizeNogil()

    def stop(self) -> None:
        """Ask SCIP to end, if it is in a stage that can be interrupted."""
        if self.model.getStageName() in LISTENING:
            self.model.interruptSolve()

    def result(self) -> MipResult:
        """Return status, point and bound."""
        said = self.model.getStatus()
        status = STATUS.get(said, "failed")
        x = None
        if self.model.getNSols() > 0:
            best = self.model.getBestSol()
            x = np.array([self.model.getSolVal(best, variable) for variable in self.x])
        bound = float(self.model.getDualbound())
        bound = bound if abs(bound) < self.model.infinity() else -np.inf
        return MipResult(status, x, bound, int(self.model.getNTotalNodes()), in_solver_words("SCIP", status, said))


def add_variables(model: Model, program: Program) -> list[Any]:
    """Add the variables, and return them in order."""
    sides = (program.lower.tolist(), program.upper.tolist(), program.cost.tolist(), program.integer.tolist())
    return [
        model.addVar(
            vtype="I" if whole else "C",
            lb=None if np.isinf(low) else low,
            ub=None if np.isinf(high) else high,
            obj=cost,
        )
        for low, high, cost, whole in zip(*sides, strict=True)
    ]


def add_rows(model: Model, program: Program, x: list[Any], deadline: float) -> None:
    """Add the linear rows one by one, as SCIP takes them; raise TimeoutError if the time limit comes first."""
    rows, lower, upper = program.rows, program.row_lower.tolist(), program.row_upper.tolist()
    for i in range(rows.shape[0]):
        if time.monotonic() > deadline:
            raise TimeoutError
        where = slice(rows.indptr[i], rows.indptr[i + 1])
        terms = zip(rows.data[where].tolist(), rows.indices[where].tolist(), strict=True)
        activity = quicksum(value * x[j] for value, j in terms)
        if lower[i] == upper[i]:
            model.addCons(activity == lower[i])
        elif np.isinf(lower[i]):
            model.addCons(activity <= upper[i])
        elif np.isinf(upper[i]):
            model.addCons(activity >= lower[i])
        else:
            model.addCons(lower[i] <= (activity <= upper[i]))


def add_terms(model: Model, program: Program, x: list[Any]) -> None:
    """Add the convex terms, in forms whose convexity SCIP recognises."""
    for q, j in program.squares.tolist():
        model.addCons(x[j] * x[j] <= x[q])
    # t >= log(1 + exp(u)) as exp(-t) + exp(u - t) <= 1. The difference u - t is a variable with upper limit zero: without this
    # limit SCIP never proved a bound.
    for t, u in program.softplus.tolist():
        difference = model.addVar(lb=None, ub=0.0)
        model.addCons(x[u] - x[t] == difference)
        model.addCons(exp(-x[t]) + exp(difference) <= 1.0)


class Scip(Backend):
    """SCIP, which uses one thread."""

    name = "scip"
    native = frozenset({"square", "softplus"})

    @property
    def version(self) -> str:
        """The name and version of the solver."""
        model = Model()
        return f"SCIP {model.getMajorVersion()}.{model.getMinorVersion()}.{model.getTechVersion()}"

    def load(self, program: Program, start: Array | None, limits: MipLimits) -> ScipSession:
        """Load a program."""
        return ScipSession(program, start, limits, self.tolerance)


BACKEND: Backend = Scip()
