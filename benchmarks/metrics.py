"""Measure the source: lines by room, functions, branches, shared names, and the way of the main calls.

python -m benchmarks.metrics [--tree PATH ...] [--names NAME ...] [--out FILE] [--list]

prints a table with one column for each source tree (this one, unless --tree says otherwise). What is counted:

- A line of code is one that has more than comments and docstrings.
- A parameter is one that a caller can give: `self` and `cls` are not, `*args` and `**kwargs` are one each.
- A None check is the text `is None` or `is not None`.
- A branch on a loss is a comparison with the name of one, with a tuple of names, or of something called loss with a collection,
  or a dictionary by names; outside `problem/losses.py`. The verifier, which is written independently on purpose, counts apart.
  In C++ it is each `LossKind::` outside `loss.hpp` and `loss.cpp`.
- A shared name is that of a function or class at the top of several modules, but for `run` and `main`, which each command has.
- The way of a call: the functions of the package that it enters, and their files, on the data of `benchmarks/metrics_calls.py`.
  Comprehensions belong to the functions around them.
- The wheel is measured as an archive of the package's files with the stripped core.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import re
import subprocess
import sys
import tempfile
import tokenize
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from statistics import median

from benchmarks.metrics_calls import CALLS
from benchmarks.processes import one_thread

LOSSES = {"logistic", "squared_hinge", "hinge", "squared_error", "multinomial", "huber"}
PROTOCOLS = {"run", "main"}
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
CPP = ("include/ellzero", "src", "bindings")
OUTSIDE = ("experiments", "benchmarks", "fuzz", "examples", "tests")
MANY = 7  # parameters
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Source:
    """A file of Python."""

    def __init__(self, file: Path, root: Path) -> None:
        self.text = file.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.module = file.relative_to(root).as_posix()

    @property
    def room(self) -> str:
        return self.module.partition("/")[0] if "/" in self.module else "(root)"

    @cached_property
    def code(self) -> set[int]:
        """The numbers of the lines of code."""
        texts = (node for node in ast.walk(self.tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        docstrings = {line for node in texts if isinstance(node.value.value, str) for line in lines_of(node)}  # type: ignore[attr-defined]
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return {n for t in tokens if t.type not in NO_CODE for n in range(t.start[0], t.end[0] + 1)} - docstrings

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def length(self, function: Function) -> int:
        return len(self.code.intersection(lines_of(function)))

    def top_names(self) -> Iterator[str]:
        return (node.name for node in self.tree.body if isinstance(node, Function | ast.ClassDef))

    def branches_on_losses(self) -> int:
        return sum(map(asks_for_a_loss, ast.walk(self.tree)))


def lines_of(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def parameters(function: Function) -> int:
    at = function.args
    named = [a.arg for a in (*at.posonlyargs, *at.args, *at.kwonlyargs, at.vararg, at.kwarg) if a is not None]
    return len(named) - (named[:1] in (["self"], ["cls"]))


def names_a_loss(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(names_a_loss, node.elts))
    return isinstance(node, ast.Constant) and node.value in LOSSES


def asks_for_a_loss(node: ast.AST) -> bool:
    if isinstance(node, ast.Dict):
        return any(map(names_a_loss, node.keys))
    if isinstance(node, ast.MatchValue):
        return names_a_loss(node.value)
    if not isinstance(node, ast.Compare):
        return False
    member = any(isinstance(operator, ast.In | ast.NotIn) for operator in node.ops)
    return any(map(names_a_loss, (node.left, *node.comparators))) or (member and "loss" in ast.unparse(node.left))


def python_sources(root: Path) -> list[Source]:
    return [Source(file, root) for file in sorted(root.rglob("*.py"))]


def cpp_sources(tree: Path) -> dict[str, str]:
    """The C++ files, by their paths below cpp, without comments."""
    files = [file for part in CPP for file in sorted((tree / "cpp" / part).rglob("*.[ch]pp"))]
    texts = {file.relative_to(tree / "cpp").as_posix(): file.read_text(encoding="utf-8") for file in files}
    return {path: re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S) for path, text in texts.items()}


def cpp_room(path: str) -> str:
    return re.sub(r"^(include/ellzero|src)/", "", path).partition("/")[0]


def shared_names(sources: list[Source]) -> dict[str, list[str]]:
    modules = defaultdict(list)
    for source in sources:
        for name in set(source.top_names()) - PROTOCOLS:
            modules[name].append(source.module)
    return {name: places for name, places in sorted(modules.items()) if len(places) > 1}


def interpreter(tree: Path) -> str:
    own = tree / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


def environment(tree: Path) -> dict[str, str]:
    return one_thread() | {"PYTHONPATH": str(tree / "src"), "PYTHONWARNINGS": "ignore"}


def way_of(tree: Path, call: str) -> str:
    """The files and functions that a call passes through, as `files / functions`."""
    program = Path(__file__).with_name("metrics_calls.py")
    command = [interpreter(tree), str(program), call]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, env=environment(tree), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{call} failed in {tree}:\n{done.stderr}")
    return done.stdout.splitlines()[-1]


def wheel_bytes(tree: Path) -> int:
    """The size of the package and its core as a compressed archive."""
    ask = [interpreter(tree), "-c", "import ellzero._core as core; print(core.__file__)"]
    core = subprocess.run(ask, env=environment(tree), capture_output=True, text=True, check=True).stdout.strip()
    root = tree / "src" / "ellzero"
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder) / "core.so"
        subprocess.run(["strip", "-o", str(stripped), core], check=True)
        archive = Path(folder) / "wheel.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
            for file in sorted(root.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".so":
                    out.write(file, file.relative_to(root.parent))
            out.write(stripped, "ellzero/_core.so")
        return os.path.getsize(archive)


def measure(tree: Path) -> dict[str, str]:
    """Every figure of a tree, by what it is."""
    sources, cpp = python_sources(tree / "src" / "ellzero"), cpp_sources(tree)
    rooms: dict[str, int] = defaultdict(int)
    core: dict[str, int] = defaultdict(int)
    for source in sources:
        rooms[source.room] += len(source.code)
    for path, text in cpp.items():
        core[cpp_room(path)] += sum(bool(line.strip()) for line in text.splitlines())
    lengths = sorted(source.length(function) for source in sources for function in source.functions())
    crowded = sum(parameters(function) > MANY for source in sources for function in source.functions())
    asked = [source for source in sources if source.module != "problem/losses.py"]
    apart = [source for source in asked if source.module.startswith("exact/verifier/")]
    branches, verifying = (sum(source.branches_on_losses() for source in some) for some in (asked, apart))
    kinds = sum(text.count("LossKind::") for path, text in cpp.items() if not re.search(r"/loss\.[ch]pp$", path))
    out: dict[str, int | str] = {
        "**lines of code**": sum(rooms.values()) + sum(core.values()),
        "**Python**": sum(rooms.values()),
        **{f"&nbsp; {room}": lines for room, lines in sorted(rooms.items())},
        "**C++**": sum(core.values()),
        **{f"&nbsp; cpp: {room}": lines for room, lines in sorted(core.items())},
        "**functions (Python)**": len(lengths),
        "lines of a function: median": f"{median(lengths):g}",
        "lines of a function: 90 % have at most": lengths[int(0.9 * len(lengths))],
        "lines of a function: longest": lengths[-1],
        f"functions with more than {MANY} parameters": crowded,
        "**None checks**": sum(len(re.findall(r"\bis (?:not )?None\b", source.text)) for source in sources),
        "**branches on losses**": branches - verifying,
        "branches on losses in the verifier": verifying,
        "`LossKind::` in C++": kinds,
        "**shared names**": len(shared_names(sources)),
        **{f"`{call}`: files / functions": way_of(tree, call) for call in CALLS},
        "**wheel**, MB": f"{wheel_bytes(tree) / 1e6:.3f}",
        **{f"outside: {room}/": sum(len(s.code) for s in python_sources(tree / room)) for room in OUTSIDE},
    }
    return {name: f"{value:,}" if isinstance(value, int) else value for name, value in out.items()}


def table(columns: dict[str, dict[str, str]]) -> str:
    rows = dict.fromkeys(name for column in columns.values() for name in column)
    lines = [f"| | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    lines += [f"| {name} | {' | '.join(column.get(name, '') for column in columns.values())} |" for name in rows]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, nargs="+", default=[Path(__file__).parents[1]], help="source trees, oldest first")
    parser.add_argument("--names", nargs="+", default=None, help="the heading of each column")
    parser.add_argument("--out", type=Path, default=None, help="a file for the table")
    parser.add_argument("--list", action="store_true", help="also the shared names of the last tree, with their modules")
    arguments = parser.parse_args()
    trees = [tree.resolve() for tree in arguments.tree]
    names = arguments.names or (["before", "after"] if len(trees) == 2 else [tree.name for tree in trees])
    text = table({name: measure(tree) for name, tree in zip(names, trees, strict=True)})
    print(text)
    if arguments.list:
        for name, modules in shared_names(python_sources(trees[-1] / "src" / "ellzero")).items():
            print(f"{name}: {', '.join(modules)}")
    if arguments.out is not None:
        about = "What is counted: `python -m benchmarks.metrics --help`. Made by `make metrics`."
        arguments.out.write_text(f"# The size of the source\n\n{about}\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
