"""Gurobi: linear and quadratic mixed integer programs, as large as its licence allows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import gurobipy
import numpy as np
from gurobipy import GRB

from ellzero.exact.mip.backends import Array, Backend, MipLimits, MipResult, MipStatus, in_solver_words
from ellzero.exact.mip.program import Program

STATUS: dict[Any, MipStatus] = {
    GRB.OPTIMAL: "optimal",
    GRB.TIME_LIMIT: "time_limit",
    GRB.INTERRUPTED: "interrupted",
    GRB.INFEASIBLE: "infeasible",
}
SAID = {
    GRB.INFEASIBLE: "infeasible",
    GRB.INF_OR_UNBD: "infeasible or unbounded",
    GRB.UNBOUNDED: "unbounded",
    GRB.NUMERIC: "numerical trouble",
    GRB.SUBOPTIMAL: "no optimal point within its tolerances",
}
SMALL_QUADRATIC = 200
"""The most variables of a quadratic model under the licence that comes with the package (of a linear one: 2000)."""


class GurobiSession:
    """One model in Gurobi."""

    def __init__(
        self, environment: gurobipy.Env, program: Program, start: Array | None, limits: MipLimits, tolerance: float
    ) -> None:
        self.program = program
        self.model = gurobipy.Model(env=environment)
        options = {
            "MIPGap": limits.gap,
            "MIPGapAbs": 0.0,
            "TimeLimit": limits.seconds,
            "Threads": limits.threads,
            "IntFeasTol": tolerance,
            "FeasibilityTol": tolerance,
            "OptimalityTol": tolerance,
        }
        for name, value in options.items():
            self.model.setParam(name, value)
        kinds = np.where(program.integer, GRB.INTEGER, GRB.CONTINUOUS)
        self.x = self.model.addMVar(program.size, lb=program.lower, ub=program.upper, vtype=kinds)
        for side, limit in ((GRB.GREATER_EQUAL, program.row_lower), (GRB.LESS_EQUAL, program.row_upper)):
            there = np.flatnonzero(np.isfinite(limit))
            if len(there):
                self.model.addMConstr(program.rows[there], self.x, side, limit[there])
        self.add_objective()
        if start is not None:
            self.x.setAttr("Start", start)

    def add_objective(self) -> None:
        """Add the objective, with x^2 instead of each q."""
        program = self.program
        cost, curvature = program.cost.copy(), np.zeros(program.size)
        q, j = program.squares.T
        cost[q], curvature[j] = 0.0, program.cost[q]
        objective = cost @ self.x
        if len(q):
            bent = self.x[j]
            objective = objective + (bent * bent * curvature[j]).sum()
        self.model.setObjective(objective)

    def run(self) -> None:
        """Solve the model."""
        self.model.optimize()
        if self.model.Status == GRB.INF_OR_UNBD:  # without dual reductions it tells which
            self.model.setParam("DualReductions", 0)
            self.model.optimize()

    def stop(self) -> None:
        """Ask Gurobi to end."""
        self.model.terminate()

    def result(self) -> MipResult:
        """Return status, point and bound."""
        status, mixed = STATUS.get(self.model.Status, "failed"), bool(self.model.IsMIP)
        x = None
        if self.model.SolCount > 0:
            x = np.array(self.x.X)
            q, j = self.program.squares.T
            x[q] = x[j] ** 2
        bound = -np.inf
        if mixed or status == "optimal":
            bound = float(self.model.ObjBound if mixed else self.model.ObjVal)
            bound = bound if abs(bound) < GRB.INFINITY else -np.inf
        said = in_solver_words("Gurobi", status, SAID.get(self.model.Status, f"status {self.model.Status}"))
        return MipResult(status, x, bound, int(self.model.NodeCount), said)


class Gurobi(Backend):
    """Gurobi; terms log(1 + exp(u)) go through outer approximation."""

    name = "gurobi"
    native = frozenset({"square"})

    @cached_property
    def environment(self) -> gurobipy.Env:
        """The holder of the licence; made for the first program, so that a missing licence is a failure of its solve."""
        environment = gurobipy.Env(empty=True)
        environment.setParam("OutputFlag", 0)
        environment.start()
        return environment

    @property
    def version(self) -> str:
        """The name and version of the solver."""
        return "Gurobi " + ".".join(map(str, gurobipy.gurobi.version()))

    @cached_property
    def size_limited(self) -> bool:
        """Whether the licence refuses a quadratic model of more than SMALL_QUADRATIC variables."""
        try:
            with gurobipy.Model(env=self.environment) as model:
                x = model.addMVar(SMALL_QUADRATIC + 1)
                model.setObjective((x * x).sum())
                model.optimize()
        except gurobipy.GurobiError:
            return True
        return False

    def takes(self, program: Program) -> frozenset[str]:
        """Return "square", or nothing where the licence refuses: it allows linear models ten times as many variables."""
        refused = len(program.squares) and program.size > SMALL_QUADRATIC and self.size_limited
        return frozenset() if refused else self.native

    def load(self, program: Program, start: Array | None, limits: MipLimits) -> GurobiSession:
        """Load a program."""
        return GurobiSession(self.environment, program, start, limits, self.tolerance)


BACKEND: Backend = Gurobi()
