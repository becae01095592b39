"""The interface to MIP solvers: calls that survive whatever a solver does, and the list of the solvers."""

from __future__ import annotations

import atexit
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
from ellzero.base.imports import import_whole
from ellzero.exact.mip.program import Program

Array = NDArray[np.float64]
BACKENDS = {"highs": "highspy", "scip": "pyscipopt", "gurobi": "gurobipy"}
"""The package that each backend needs; the backend is the module of this folder that has its name."""
POLL = 0.05  # seconds; the solver learns of Ctrl-C after this long at most
OVERSHOOT = 3.0  # seconds that a solver may exceed its time limit by before it is asked to stop
PATIENCE = 5.0  # seconds that a solver has to stop when asked; after that it is abandoned (in a large LP it may not listen)
LARGEST_VIOLATION = 1e-5  # relative, and far above the tolerances of the solvers
KEYBOARD_PATIENCE = 1.0  # seconds, instead of PATIENCE after Ctrl-C, when somebody waits


MipStatus = Literal["optimal", "time_limit", "interrupted", "infeasible", "precision", "failed"]


@dataclass(frozen=True)
class MipResult:
    """The result of one call of a MIP solver.

    `status` is "optimal" (to the gap asked), "time_limit", "interrupted", "infeasible", "precision" (outer approximation: the
    tolerances allow no better proof) or "failed".
    """

    status: MipStatus
    x: Array | None  # the best feasible point, if any
    lower_bound: float  # of the optimum; -inf if nothing is proved, inf if no point is feasible
    nodes: int = 0
    message: str = ""  # the solver's message, for "infeasible" and "failed"


@dataclass(frozen=True, kw_only=True)
class MipLimits:
    """The relative gap and the seconds at which a solver ends, and the threads it may use."""

    gap: float  # relative
    seconds: float
    threads: int


class Session(Protocol):
    """A program loaded into a solver."""

    def run(self) -> None:
        """Solve the program; the call blocks, but releases the interpreter's lock."""

    def stop(self) -> None:
        """Ask `run` to end soon; called from another thread, and again until it ends."""

    def result(self) -> MipResult:
        """Return the result of `run`; its status is "interrupted" if it was stopped."""


class Backend(ABC):
    """A MIP solver behind the interface that all of them share."""

    name: str
    native: frozenset[str]
    """The kinds of terms ("square", "softplus") that the solver takes itself; the others need outer approximation."""
    tolerance = 1e-9
    """The largest deviation that the solver accepts as integral or feasible."""

    @property
    @abstractmethod
    def version(self) -> str:
        """The name and version of the solver."""

    @abstractmethod
    def load(self, program: Program, start: Array | None, limits: MipLimits) -> Session:
        """Load a program, whose terms must all be native, and a feasible point to start from."""

    def takes(self, program: Program) -> frozenset[str]:
        """Return the kinds of terms that the solver takes itself in this program."""
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
        """Solve a program to a relative gap; failures of the solver and Ctrl-C become a status of the result."""
        # Solvers judge costs by absolute tolerances, in which costs of 1 / n would be lost.
        scale = cost_scale(program.cost)
        try:
            scaled = replace(program, cost=program.cost * scale)
            begin = time.monotonic()
            session = self.load(scaled, start, MipLimits(gap=gap, seconds=seconds, threads=threads))
            left = max(seconds - (time.monotonic() - begin), 0.0)
            return checked(program, attend(session, left, scale))
        except KeyboardInterrupt:
            return MipResult("interrupted", None, -np.inf)
        except TimeoutError:  # while the program was loaded
            return MipResult("time_limit", None, -np.inf)
        except Exception as error:  # a solver's own exceptions are of many types
            return MipResult("failed", None, -np.inf, message=one_sentence(error))


def in_solver_words(solver: str, status: MipStatus, said: str) -> str:
    """Return the message of a result: what the solver says where it found nothing."""
    return f"{solver} says: {said}" if status in ("failed", "infeasible") else ""


def cost_scale(cost: Array) -> float:
    """Return a power of two that brings the median cost near one."""
    sizes = np.abs(cost[cost != 0.0])
    if not len(sizes):
        return 1.0
    return float(2.0 ** np.clip(np.rint(-np.log2(np.median(sizes))), 0, 30))


def one_sentence(error: BaseException) -> str:
    """Return the first line of an error's message."""
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__


def checked(program: Program, found: MipResult) -> MipResult:
    """Return the result, or a failure if it contradicts itself: then nothing that the solver says is used."""
    if found.x is None:
        wrong = "it names no optimal point" if found.status == "optimal" else ""
    elif not np.isfinite(found.x).all():
        wrong = "its point is not finite"
    else:
        violation = program.violation(found.x) / (1.0 + float(np.abs(found.x).max(initial=0.0)))
        wrong = f"its point violates the program by {violation:.2g}" if violation > LARGEST_VIOLATION else ""
    return MipResult("failed", None, -np.inf, found.nodes, f"the solver cannot be trusted: {wrong}") if wrong else found


def attend(session: Session, seconds: float, scale: float) -> MipResult:
    """Run a session in its own thread, and handle Ctrl-C, an exceeded time limit, and exceptions."""
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
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    interrupted, asked = False, np.inf
    while not done.is_set():
        try:
            done.wait(POLL)
        except KeyboardInterrupt:
            interrupted = True
        now = time.monotonic()
        if interrupted or now > deadline:
            asked = min(asked, now)
            with suppress(Exception):  # some refuse at times (SCIP while it restarts) and are asked again
                session.stop()
        if now > asked + (KEYBOARD_PATIENCE if interrupted else PATIENCE):
            atexit.register(thread.join, PATIENCE)  # a program that ends under a solver's thread is aborted
            status: MipStatus = "interrupted" if interrupted else "time_limit"
            return MipResult(status, None, -np.inf, message="the solver did not stop when asked to")
    if trouble:
        return MipResult("failed", None, -np.inf, message=one_sentence(trouble[0]))
    found = session.result()
    # A solver that was stopped for its time reports an interruption, which it was not. Where nobody asked it to stop, it caught
    # Ctrl-C itself (Gurobi does).
    overdue = found.status == "interrupted" and np.isfinite(asked) and not interrupted
    status = "time_limit" if overdue else found.status
    bound = np.inf if status == "infeasible" else found.lower_bound / scale
    return replace(found, status=status, lower_bound=bound)


@cache
def get_backend(name: str) -> Backend:
    """Return the backend of a given name; its package is imported here."""
    if name not in BACKENDS:
        raise InvalidInputError(f"backend must be one of {', '.join(map(repr, BACKENDS))}, got {name!r}.")
    try:
        module = import_whole(f"ellzero.exact.mip.{name}")
    except ImportError:
        needs = BACKENDS[name]
        raise InvalidInputError(f"backend {name!r} needs {needs}; install it with: pip install 'ellzero[{name}]'.") from None
    backend: Backend = module.BACKEND
    return backend
