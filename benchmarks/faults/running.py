"""Plants a fault in its own checkout, runs tests there, and takes the fault out again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.fault import Fault

__all__ = ["Outcome", "checkout", "find"]

LIMIT = 1800.0  # seconds for the tests of a fault: one that makes a search endless is found, too
OBJECTS = "build/dev"
INSTALL = ["-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "-C", f"build-dir={OBJECTS}"]
INSTALL += ["-C", "cmake.define.ELLZERO_TESTS=ON", "-e", "."]


@dataclass(frozen=True)
class Outcome:
    """What came of a fault: the test that failed, empty if none did, and how long that took."""

    fault: str
    test: str
    seconds: float
    rest: bool  # whether all other tests were run, too
    commit: str  # of the code in which it was planted


def checkout(tree: Path, commit: str) -> None:
    """Make a checkout with its own environment, which borrows the tools of this one."""
    if not tree.exists():
        subprocess.run(["git", "worktree", "add", "--detach", str(tree), commit], check=True)
        subprocess.run([sys.executable, "-m", "venv", str(tree / ".venv")], check=True)
        command = [python(tree), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        own = Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())
        borrowed = {sysconfig.get_path("purelib"), *(path for path in sys.path if path.endswith("site-packages"))}
        (own / "tools.pth").write_text("\n".join(sorted(borrowed)) + "\n", encoding="utf-8")
    else:
        subprocess.run(["git", "-C", str(tree), "checkout", "--quiet", "--force", "--detach", commit], check=True)
    build(tree)


def python(tree: Path) -> str:
    """Return the interpreter of a checkout."""
    return str((tree / ".venv" / "bin" / "python").absolute())


def build(tree: Path) -> bool:
    """Compile what changed, by ccache where it is there; whether that went well."""
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    cached = (
        {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache"}
        if subprocess.run(["which", "ccache"], capture_output=True).returncode == 0
        else {}
    )
    command = [python(tree), *INSTALL]
    return subprocess.run(command, cwd=tree, env={**os.environ, **cached, "PATH": tools}, check=False).returncode == 0


def find(fault: Fault, tree: Path, rest: bool) -> Outcome:
    """Plant a fault, run its tests and, if they find nothing and `rest` is set, all others."""
    begin = time.perf_counter()
    ask = ["git", "-C", str(tree), "rev-parse", "--short=7", "HEAD"]
    commit = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
    original = (tree / fault.file).read_bytes()
    try:
        fault.plant(tree)
        if fault.compiled and not build(tree):
            raise RuntimeError(f"{fault.name} does not compile")
        test = failed(tree, fault.tests)
        if not test and rest:
            test = failed(tree, ("tests", "--numprocesses", "auto", "--maxprocesses", "4", "--dist", "loadfile"))
    finally:
        (tree / fault.file).write_bytes(original)
        if fault.compiled:
            build(tree)
    return Outcome(fault.name, test, round(time.perf_counter() - begin, 1), rest, commit)


def failed(tree: Path, tests: Sequence[str]) -> str:
    """Return the first test that fails: of the core's, then of Python's."""
    subjects = [Path(test).stem for test in tests if test.startswith("cpp/")]
    others = [test for test in tests if not test.startswith("cpp/")]
    return failed_in_core(tree, subjects) or (failed_in_python(tree, others) if others else "")


def failed_in_core(tree: Path, subjects: Sequence[str]) -> str:
    """Return the first of the core's unit tests on these subjects that fails."""
    if not subjects:
        return ""
    command = ["ctest", "--test-dir", OBJECTS, "--tests-regex", f"^({'|'.join(subjects)})[.]"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    match = re.search(r"^\s*\d+ - (\w+)[.](\w+) \(", done.stdout, re.MULTILINE)
    return f"cpp/tests/{match[1]}.cpp::{match[2]}" if match else ""


def failed_in_python(tree: Path, tests: Sequence[str]) -> str:
    """Return the first test of pytest that fails."""
    command = [python(tree), "-m", "pytest", "-x", "-rfE", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"{tests[0]} (no end)"
    if done.returncode == 0:
        return ""
    if done.returncode < 0:
        return f"{tests[0]} (a crash, signal {-done.returncode})"
    match = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if done.returncode not in (1, 2) or match is None:
        raise RuntimeError(f"pytest ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    return match[1]
