"""Imports go one way: a module may import only from the layers before its own."""

import ast
from pathlib import Path

import ellzero

LAYERS = [
    ["base", "_core"],
    ["tables"],
    ["design"],
    ["conversion"],
    ["problem"],
    ["plots"],
    ["solvers"],
    ["datasets", "metrics"],
    ["exact"],
    ["paths"],
    ["estimators"],
    ["report"],
    ["experiments"],
    ["cli"],
    ["__main__"],
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
ROOT = Path(ellzero.__file__).parent


def imports(tree):
    """Modules that are imported when the file is, leaving out TYPE_CHECKING blocks and imports inside functions."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_import_direction():
    files = [file for file in ROOT.rglob("*.py") if file.name != "__init__.py" or file.parent != ROOT]
    assert len(files) > 10
    for file in files:
        part = file.relative_to(ROOT).parts[0].removesuffix(".py")
        assert part in RANK, f"{file}: give the new module a layer"
        for module in imports(ast.parse(file.read_text())):
            if not module.startswith("ellzero"):
                continue
            target = module.removeprefix("ellzero").lstrip(".").split(".")[0] or "_core"
            same_package = target == part
            assert same_package or RANK[target] < RANK[part], f"{file} imports {module}"


def test_verifier_shares_no_code_with_the_solver():
    files = list((ROOT / "exact" / "verifier").glob("*.py"))
    assert len(files) > 3
    for file in files:
        for module in imports(ast.parse(file.read_text())):
            own = module.startswith("ellzero.exact.verifier") or module == "ellzero.base.errors"
            assert own or not module.startswith("ellzero"), f"{file} imports {module}"


def test_core_knows_no_python():
    sources = ROOT.parents[1] / "cpp"
    if not sources.exists():  # an installed wheel without the sources beside it
        sources = Path(__file__).parents[1] / "cpp"
    core = [*sources.glob("include/**/*.hpp"), *sources.glob("src/**/*.cpp")]
    assert len(core) > 10
    for file in core:
        assert "nanobind" not in file.read_text(), file
        assert "Python.h" not in file.read_text(), file


def test_start_up_imports_nothing_optional():
    import subprocess
    import sys

    optional = ("pandas", "matplotlib", "sklearn", "highspy", "pyscipopt", "gurobipy")
    code = f"import sys, ellzero; print([m for m in {optional} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
