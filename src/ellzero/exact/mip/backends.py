"""What a MIP solver must offer, how it is called, and the ones there are."""

from __future__ import annotations

import importlib
import threading
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.exact.mip.program import Program

__all__ = ["BACKENDS", "Backend", "Limits", "MipResult", "MipStatus", "Session", "get_backend"]

Array = NDArray[np.float64]
BACKENDS = {"highs": "highspy", "scip": "pyscipopt", "gurobi": "gurobipy"}
"""Each backend's module here, and the package that it needs."""
POLL = 0.05  # seconds: a pressed Ctrl-C waits this long at most before the solver is told
OVERSHOOT = 3.0  # seconds past its own time limit after which a solver is asked to stop
PATIENCE = 5.0  # seconds that a solver gets to end once it was asked (in a large LP it may not listen); then it is left behind
LARGEST_VIOLATION = 1e-5  # relative; the tolerances that solvers are asked for are far below
KEYBOARD_PATIENCE = 1.0  # the same after Ctrl-C, when somebody waits


MipStatus = Literal["optimal", "time_limit", "interrupted", "infeasible", "precision", "failed"]


@dataclass(frozen=True)
class MipResult:
    """How a solver ended.

    `status` is "optimal" (to the gap asked), "time_limit", "interrupted", "infeasible", "precision" (outer approximation: the
    tolerances allow no better proof) or "failed".
    """

    status: MipStatus
    x: Array | None  # the best feasible point, if any
    lower_bound: float  # on the optimum, -inf if nothing is proved, inf if there is none
    nodes: int = 0
    message: str = ""  # what the solver said, for "infeasible" and "failed"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a solver may end."""

    gap: float  # relative
    seconds: float
    threads: int


class Session(Protocol):
    """A program that was loaded into a solver."""

    def run(self) -> None:
        """Solve; it blocks and releases the interpreter's lock."""

    def stop(self) -> None:
        """Ask `run` to end soon; from another thread, and again until it ends."""

    def result(self) -> MipResult:
        """What `run` found; "interrupted" if it was stopped."""


class Backend(ABC):
    """A MIP solver."""

    name: str
    native: frozenset[str]
    """Of "square" and "softplus": the terms that it takes itself; the others need outer approximation."""
    tolerance: float
    """What it lets pass as integral and feasible."""

    @property
    @abstractmethod
    def version(self) -> str:
        """Name and version of the solver."""

    @abstractmethod
    def load(self, program: Program, start: Array | None, limits: Limits) -> Session:
        """Give it a program (with native terms only) and a feasible point to start from."""

    def takes(self, program: Program) -> frozenset[str]:
        """The terms that it takes itself in this program."""
        return self.native

    def solve(
        self,
        program: Program,
        *,
        start: Array | None = None,
        gap: float = 1e-4,
        seconds: float = np.inf,
        threads: int = 1,
    ) -> MipResult:
        """Solve a program to a relative gap; whatever the solver does ends in a result, also Ctrl-C."""
        # Solvers judge costs by absolute tolerances: 1 / n would drown in them.
        scale = cost_scale(program.cost)
        try:
            scaled = replace(program, cost=program.cost * scale)
            begin = time.monotonic()
            session = self.load(scaled, start, Limits(gap=gap, seconds=seconds, threads=threads))
            left = max(seconds - (time.monotonic() - begin), 0.0)
            return checked(program, attend(session, left, scale))
        except KeyboardInterrupt:
            return MipResult("interrupted", None, -np.inf)
        except TimeoutError:  # while the program was loaded
            return MipResult("time_limit", None, -np.inf)
        except Exception as error:  # a solver's own exceptions are of many types
            return MipResult("failed", None, -np.inf, message=one_sentence(error))


def cost_scale(cost: Array) -> float:
    """A power of two that brings the typical cost near one."""
    sizes = np.abs(cost[cost != 0.0])
    if not len(sizes):
        return 1.0
    return float(2.0 ** np.clip(np.rint(-np.log2(np.median(sizes))), 0, 30))


def one_sentence(error: BaseException) -> str:
    """The first line of what went wrong."""
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__


def checked(program: Program, found: MipResult) -> MipResult:
    """What was found, or a failure where the solver contradicts itself: then nothing that it says counts."""
    if found.x is None:
        wrong = "it names no optimal point" if found.status == "optimal" else ""
    elif not np.isfinite(found.x).all():
        wrong = "its point is not finite"
    else:
        violation = program.violation(found.x) / (1.0 + float(np.abs(found.x).max(initial=0.0)))
        wrong = f"its point violates the program by {violation:.2g}" if violation > LARGEST_VIOLATION else ""
    return MipResult("failed", None, -np.inf, found.nodes, f"the solver cannot be trusted: {wrong}") if wrong else found


def attend(session: Session, seconds: float, scale: float) -> MipResult:
    """Run a session in a thread of its own and look after it: Ctrl-C, time that it overshoots, exceptions."""
    done = threading.Event()
    trouble: list[BaseException] = []

    def work() -> None:
        try:
            session.run()
        except BaseException as error:
            trouble.append(error)
        finally:
            done.set()

    deadline = time.monotonic() + seconds + OVERSHOOT
    threading.Thread(target=work, daemon=True).start()
    interrupted, asked = False, np.inf
    while not done.is_set():
        try:
            done.wait(POLL)
        except KeyboardInterrupt:
            interrupted = True
        now = time.monotonic()
        if interrupted or now > deadline:
            asked = min(asked, now)
            with suppress(Exception):  # some refuse at times (SCIP while it restarts); they are asked again
                session.stop()
        if now > asked + (KEYBOARD_PATIENCE if interrupted else PATIENCE):
            status: MipStatus = "interrupted" if interrupted else "time_limit"
            return MipResult(status, None, -np.inf, message="the solver did not stop when asked to")
    if trouble:
        return MipResult("failed", None, -np.inf, message=one_sentence(trouble[0]))
    found = session.result()
    # A solver that was stopped for its time was not interrupted. One that nobody stopped met Ctrl-C itself (Gurobi does).
    overdue = found.status == "interrupted" and np.isfinite(asked) and not interrupted
    status = "time_limit" if overdue else found.status
    bound = np.inf if status == "infeasible" else found.lower_bound / scale
    return replace(found, status=status, lower_bound=bound)


@cache
def get_backend(name: str) -> Backend:
    """The backend of that name; its package is imported now."""
    if name not in BACKENDS:
        raise InvalidInputError(f"backend must be one of {', '.join(map(repr, BACKENDS))}, got {name!r}.")
    try:
        module = importlib.import_module(f"ellzero.exact.mip.{name}")
    except ImportError:
        needs = BACKENDS[name]
        raise InvalidInputError(f"backend {name!r} needs {needs}; install it with: pip install 'ellzero[{name}]'.") from None
    backend: Backend = module.make_backend()
    return backend
