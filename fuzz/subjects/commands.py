"""The command line, in this process: one sentence for what cannot be done, no traceback, files that work together."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import ellzero as ez
from ellzero.cli import main
from fuzz.problems.problem import Problem
from fuzz.records import Case, Record, skeleton
from fuzz.subjects.tables import draw_names, write_table

__all__ = ["COMMAND_CALLS", "SPEAKING", "draw_command", "judge_command"]

Generator = np.random.Generator
SPEAKING = threading.Lock()  # of standard output and error, which belong to the whole process
COMMAND_CALLS = """
print("see fuzz/subjects/commands.py: X and y are written as a table, then: ellzero", options["command"], options["arguments"])
"""


def draw_command(rng: Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return data, the command and its arguments."""
    command = str(rng.choice(["fit", "path", "cv", "certify", "convert"], p=[0.35, 0.2, 0.1, 0.3, 0.05]))
    arguments = []
    if problem.is_classification:
        arguments += ["--loss", problem.loss.replace("_", "-") if rng.random() < 0.3 else problem.loss]
    else:
        arguments += ["--regression"]
    if command in ("fit", "certify"):
        arguments += (
            ["--k", str(int(rng.integers(0, 4)))] if rng.random() < 0.6 else ["--lambda-0", repr(problem.lambda_0 or 0.01)]
        )
    if command in ("fit", "path", "certify"):
        arguments += ["--lambda-2", repr(problem.lambda_2)] if rng.random() < 0.5 else []
        arguments += ["--lambda-1", repr(problem.lambda_1)] if rng.random() < 0.3 else []
    arguments += ["--no-intercept"] if rng.random() < 0.2 else []
    arguments += ["--no-standardize"] if rng.random() < 0.3 else []
    arguments += ["--lower", "0"] if rng.random() < 0.1 else []
    arguments += ["--cv", "2", "--max-support", "2"] if command == "cv" else []
    arguments += ["--algorithm", str(rng.choice(["cd", "local_search", "iht", "exact"]))] if command == "fit" else []
    if rng.random() < 0.05:
        arguments += [str(rng.choice(["--nonsense", "--k=-1", "--lambda-0=nan", "--upper=-1", "--n-jobs=0", "--loss=median"]))]
    options = {"command": command, "arguments": [] if command == "convert" else arguments, "storage": "columns"}
    options["format"] = str(rng.choice(["csv", "csv", "npz", "svmlight"]))
    options["names"] = draw_names(rng, problem.X.shape[1])
    return replace(problem, bound=None), options


def call(record: Record, *argv: str) -> tuple[int, str]:
    """Run a command; return its exit code and what it printed. Errors must be one sentence."""
    out, err = io.StringIO(), io.StringIO()
    with SPEAKING, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*argv, "--quiet"])
    said = err.getvalue()
    record.count(f"{argv[0]} ended with {code}")
    if "Traceback" in said or "Traceback" in out.getvalue():
        record.find("traceback on the command line", "high", f"{argv}: {said}")
    if code not in (0, 1, 2):
        record.find("unknown exit code", "high", f"{argv}: {code}: {said}")
    if code == 2:
        record.count(f"{argv[0]}: {skeleton(said.removeprefix('ellzero: error: '))}")
        if len([line for line in said.splitlines() if not line.startswith("ellzero: warning")]) != 1 and "usage" not in said:
            record.find("an error of several lines", "low", f"{argv}: {said}")
    return code, out.getvalue()


def judge_command(case: Case, record: Record) -> None:
    """Write the data as a file, run the command on it, and use what it wrote."""
    options, problem = case.options, case.problem
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        data = folder / f"data.{'svm' if options['format'] == 'svmlight' else options['format']}"
        write_table(data, problem, options["names"][: problem.X.shape[1]], options["format"])
        target = ["--target", "target"] if options["format"] == "csv" else []
        given = [str(data), *target, *options["arguments"]]
        numbers = [] if problem.is_classification else ["--regression"]
        {"fit": run_fit, "path": run_path, "cv": run_fit, "certify": run_certify, "convert": run_convert}[options["command"]](
            record, options["command"], given, [str(data), *target, *numbers], folder
        )


def run_fit(record: Record, command: str, given: list[str], data: list[str], folder: Path) -> None:
    """Fit or cross-validate, load the model, and predict with it."""
    model = folder / "model.json"
    code, printed = call(record, command, *given, "--out", str(model), "--json")
    if code != 0:
        return
    json.loads(printed, parse_constant=lambda word: record.find("no JSON", "medium", f"{command} prints {word}"))
    ez.load(model)
    code, _ = call(record, "predict", str(model), data[0])
    if code != 0:
        record.find("a model cannot predict its own data", "high", f"predict ended with {code}")


def run_path(record: Record, command: str, given: list[str], data: list[str], folder: Path) -> None:
    """Fit a path."""
    code, printed = call(record, command, *given, "--out", str(folder / "path.csv"), "--json")
    if code == 0:
        json.loads(printed, parse_constant=lambda word: record.find("no JSON", "medium", f"path prints {word}"))


def run_certify(record: Record, command: str, given: list[str], data: list[str], folder: Path) -> None:
    """Prove a solution, and verify the proof."""
    proof = folder / "proof.npz"
    code, printed = call(record, command, *given, "--out", str(proof), "--time-limit", "3", "--json")
    if code == 0:
        json.loads(printed, parse_constant=lambda word: record.find("no JSON", "medium", f"certify prints {word}"))
    if proof.exists() and call(record, "verify", str(proof), *data)[0] != 0:
        _, printed = call(record, "verify", str(proof), *data)
        record.find("own certificate refused", "high", printed)


def run_convert(record: Record, command: str, given: list[str], data: list[str], folder: Path) -> None:
    """Convert the file, and fit a path on the store."""
    store = folder / "data.columns"
    code, _ = call(record, command, *given, "--out", str(store))
    if code == 0:
        call(record, "path", str(store))
