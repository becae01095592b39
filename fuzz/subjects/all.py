"""The list of subjects, and the way from a seed to a case and from a case to its record."""

from __future__ import annotations

import time
import traceback
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import ellzero as ez
from fuzz.problems.data import Kind, families
from fuzz.problems.drawing import draw_problem
from fuzz.problems.problem import Problem
from fuzz.problems.structure import PARTS
from fuzz.records import Case, Record, skeleton
from fuzz.running.pool import Task
from fuzz.subjects import checkpoints, commands, convex, estimators, exact, functions, paths, swaps, tables

__all__ = ["SUBJECTS", "Subject", "draw_case", "judge", "run"]


@dataclass(frozen=True)
class Subject:
    """A part of the public face: how often it is drawn, its options for a problem, its judgement, and its calls."""

    share: float
    draw: Callable[[np.random.Generator, Problem], tuple[Problem, dict[str, Any]]]
    judge: Callable[[Case, Record], None]
    calls: str  # lines that call the package, for a script; X, y, settings, form and options are defined, Z is the stored X
    largest_p: int = 8
    data: Kind | None = None  # the kind of data, unless that is drawn
    parts: tuple[str, ...] = ()  # of outputs, groups and prices: those that its problems may have


SUBJECTS: dict[str, Subject] = {
    "solve": Subject(40.0, exact.draw_solve, exact.judge_solve, exact.SOLVE_CALLS),
    "alike": Subject(8.0, exact.draw_solve, exact.judge_solve, exact.SOLVE_CALLS, largest_p=10, data=families),
    "improve": Subject(6.0, swaps.draw_improve, swaps.judge_improve, swaps.IMPROVE_CALLS, largest_p=7),
    "certify": Subject(4.0, swaps.draw_certify, swaps.judge_certify, swaps.CERTIFY_CALLS, largest_p=6),
    "path": Subject(25.0, paths.draw_path, paths.judge_path, paths.PATH_CALLS, largest_p=20),
    "sizes": Subject(8.0, paths.draw_sizes, paths.judge_sizes, paths.SIZES_CALLS),
    "grid": Subject(3.0, paths.draw_grid, paths.judge_grid, paths.GRID_CALLS, largest_p=12),
    "convex": Subject(4.0, convex.draw_convex, convex.judge_convex, convex.CONVEX_CALLS),
    "objective": Subject(3.0, functions.draw_objective, functions.judge_objective, functions.OBJECTIVE_CALLS),
    "checkpoint": Subject(3.0, checkpoints.draw_checkpoint, checkpoints.judge_checkpoint, checkpoints.CHECKPOINT_CALLS),
    "alike stopped": Subject(
        2.0, checkpoints.draw_checkpoint, checkpoints.judge_checkpoint, checkpoints.CHECKPOINT_CALLS, data=families
    ),
    "estimator": Subject(8.0, estimators.draw_estimator, estimators.judge_estimator, estimators.ESTIMATOR_CALLS),
    "cv": Subject(2.0, estimators.draw_cv, estimators.judge_cv, estimators.CV_CALLS, largest_p=5),
    "convert": Subject(2.0, tables.draw_convert, tables.judge_convert, tables.CONVERT_CALLS),
    "command": Subject(3.0, commands.draw_command, commands.judge_command, commands.COMMAND_CALLS),
    "budgets": Subject(4.0, paths.draw_budgets, paths.judge_budgets, paths.BUDGETS_CALLS, parts=PARTS),
}
STRUCTURED = ("solve", "alike", "improve", "certify", "path", "sizes", "grid", "objective", "checkpoint")
SUBJECTS |= {f"structured {name}": replace(SUBJECTS[name], parts=PARTS) for name in STRUCTURED}
SUBJECTS["structured estimator"] = replace(SUBJECTS["estimator"], parts=("groups", "prices"))


def draw_case(seed: int, only: str | None = None) -> Case:
    """Return the case of a seed; its subject is drawn too, unless one is given."""
    rng = np.random.default_rng(seed)
    share = np.array([subject.share for subject in SUBJECTS.values()])
    drawn = str(rng.choice(list(SUBJECTS), p=share / share.sum()))
    name = drawn if only is None else only
    own = np.random.default_rng([seed, zlib.crc32(name.encode())])
    subject = SUBJECTS[name]
    problem, options = subject.draw(own, draw_problem(own, subject.largest_p, data=subject.data, parts=subject.parts))
    return Case(name, seed, problem, options)


def run(task: Task) -> Record:
    """Judge the case of a task, which is drawn unless the task has it."""
    return judge(draw_case(task.seed, task.subject or None) if task.case is None else task.case)


def judge(case: Case) -> Record:
    """Run a case and return its record; whatever is raised but a refusal in one sentence is a finding."""
    record = Record(case.subject, case.seed)
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            SUBJECTS[case.subject].judge(case, record)
        except ez.InvalidInputError as error:
            record.count(f"refused: {skeleton(str(error))}")
            if "\n" in str(error):
                record.find("refusal of several lines", "low", str(error))
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{where.filename.rsplit('/', 2)[-1]}:{where.lineno}"
            record.find(f"exception {type(error).__name__}", "high", f"{error} ({place})\n{traceback.format_exc(limit=-6)}")
    for warning in warned:
        if issubclass(warning.category, UserWarning):
            continue  # a remark for users, of the package or of scikit-learn
        place = f"{str(warning.filename).rsplit('/', 2)[-1]}:{warning.lineno}"
        record.find(f"warning {warning.category.__name__}", "low", f"{warning.message} ({place})")
    record.seconds = time.perf_counter() - begin
    return record
