"""The benchmarks stand beside the paper's experiments, and share only their methods and measurements."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "benchmarks").glob("**/*.py"))
SHARED = ("experiments.measurement.", "experiments.peers.")


def imported(file):
    """Yield the names of all modules that a file imports, at its top or inside functions."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_there_are_benchmarks():
    assert len(FILES) > 10


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_benchmark_imports_the_experiments(file):
    names = [name for name in imported(file) if name.startswith("experiments")]
    assert all(name.startswith(SHARED) for name in names), names


def test_no_experiment_imports_the_benchmarks():
    files = sorted((ROOT / "experiments").glob("**/*.py"))
    assert len(files) > 5
    for file in files:
        assert not [name for name in imported(file) if name.split(".")[0] == "benchmarks"], file
