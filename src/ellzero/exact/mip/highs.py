"""HiGHS: linear programs, mixed integer or not."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from ellzero.exact.mip.backends import Array, Backend, MipLimits, MipResult, MipStatus, in_solver_words
from ellzero.exact.mip.program import Program

STATUS: dict[Any, MipStatus] = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kTimeLimit: "time_limit",
    highspy.HighsModelStatus.kInterrupt: "interrupted",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
}
LARGE = 30_000
"""Entries above which the interior point method is faster: two million took it 18 s, and the simplex method more than 60 s."""


class HighsSession:
    """One model in HiGHS."""

    def __init__(self, program: Program, start: Array | None, limits: MipLimits, tolerance: float) -> None:
        self.solver = highspy.Highs()
        self.mixed = bool(program.integer.any())
        options: dict[str, float | str] = {
            "output_flag": False,
            "mip_feasibility_tolerance": tolerance,
            "primal_feasibility_tolerance": tolerance,
            "dual_feasibility_tolerance": tolerance,
            "mip_rel_gap": limits.gap,
            "mip_abs_gap": 0.0,
            "time_limit": limits.seconds,
            "threads": limits.threads,
        }
        if program.rows.nnz > LARGE:
            options |= {"solver": "ipm", "mip_lp_solver": "ipm"}
        for name, value in options.items():
            self.solver.setOptionValue(name, value)
        if self.solver.passModel(as_lp(program)) == highspy.HighsStatus.kError:
            raise ValueError("HiGHS does not accept the model")
        if start is not None and self.mixed:
            solution = highspy.HighsSolution()
            solution.col_value = start.tolist()
            self.solver.setSolution(solution)
        self.solver.HandleUserInterrupt = True

    def run(self) -> None:
        """Solve the model."""
        self.solver.run()

    def stop(self) -> None:
        """Ask HiGHS to end."""
        self.solver.cancelSolve()

    def result(self) -> MipResult:
        """Return status, point and bound."""
        info, model = self.solver.getInfo(), self.solver.getModelStatus()
        status = STATUS.get(model, "failed")
        feasible = info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible)
        x = np.array(self.solver.getSolution().col_value) if feasible else None
        if self.mixed:
            bound = float(info.mip_dual_bound)
        else:
            bound = float(info.objective_function_value) if status == "optimal" else -np.inf
        said = in_solver_words("HiGHS", status, self.solver.modelStatusToString(model))
        return MipResult(status, x, bound, max(int(info.mip_node_count), 0), said)


def as_lp(program: Program) -> highspy.HighsLp:
    """Return the program in the form of HiGHS."""
    lp, rows = highspy.HighsLp(), program.rows
    lp.num_row_, lp.num_col_ = rows.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = program.cost, program.lower, program.upper
    lp.row_lower_, lp.row_upper_ = program.row_lower, program.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = rows.indptr, rows.indices, rows.data
    if program.integer.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[flag] for flag in program.integer.tolist()]
    return lp


class Highs(Backend):
    """HiGHS for linear programs; its quadratic solver is not used, since it was seen to hang."""

    name = "highs"
    native = frozenset()

    @property
    def version(self) -> str:
        """The name and version of the solver."""
        return f"HiGHS {highspy.Highs().version()}"

    def load(self, program: Program, start: Array | None, limits: MipLimits) -> HighsSession:
        """Load a program."""
        return HighsSession(program, start, limits, self.tolerance)


BACKEND: Backend = Highs()
