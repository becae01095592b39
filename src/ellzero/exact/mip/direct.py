"""Solve the paper's formulation (MIP) as a whole by a MIP solver."""

from __future__ import annotations

import numpy as np

from ellzero.exact.mip.formulation import check_size, formulate
from ellzero.exact.mip.mip_search import MipSearch, check_tolerance
from ellzero.exact.mip.outer_approximation import solve_program
from ellzero.exact.status import Status
from ellzero.problem.coefficients import Coefficients
from ellzero.problem.model import evaluate


class DirectSearch(MipSearch):
    """A search that leaves the whole formulation to the solver."""

    def explore(self) -> Status | None:
        """Search by one call of the solver."""
        check_size(self.problem.design)  # before any work
        return super().explore()

    def call_solver(self) -> Status | None:
        """Solve the formulation, if it fits into memory."""
        try:
            return self.solve_formulation()
        except MemoryError:
            n, p = self.problem.design.shape
            self.message = f"the formulation of {n} rows and {p} features does not fit into memory"
            return "failed"

    def solve_formulation(self) -> Status | None:
        """Formulate the problem, and take what the solver finds and proves."""
        options, boxed, cost = self.options, self.boxed, self.problem.units.cost
        switched, unit = ~boxed.penalty.unpenalized, boxed.units.coefficient
        check_tolerance(self.backend, self.low[switched] / unit, self.high[switched] / unit)
        formulation = formulate(
            boxed,
            lambda_0=options.lambda_0,
            k=options.k,
            budget=options.budget,
            low=self.low,
            high=self.high,
            swaps=options.swaps,
        )
        if not self.left():
            return "time_limit"
        support = self.incumbent.support
        beta = boxed.penalised(support, boxed.penalty.clip(support, self.incumbent.coefficients.values))

        def report(lower: float, _: float) -> None:
            self.iteration += 1
            self.raise_bound(lower * cost)
            self.note()

        found = solve_program(
            self.backend,
            formulation.program,
            start=formulation.point(support, beta[:, 0], self.incumbent.intercept),
            gap=options.gap,
            seconds=self.left(),
            threads=options.threads,
            report=report,
        )
        self.nodes += found.nodes
        if self.contradicts(found.lower_bound * cost):
            self.message = found.message or "the solver's bound is above the objective of a known solution"
            return "failed"
        self.raise_bound(found.lower_bound * cost)
        if found.x is not None:
            support, beta, intercept = formulation.solution(found.x)
            self.offer(support)
            values = boxed.penalty.clip(support, (beta / boxed.spread[support])[:, None])
            self.keep(evaluate(boxed, Coefficients(support, values, np.array([intercept])), options.lambda_0))
        return self.status_of(found)
