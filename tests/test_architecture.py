"""Imports go one way: a module may import only from its own room and from the layers before it."""

import ast
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    ["scores"],
    ["ellzero"],  # the root, which gathers the public names
    ["report"],
    ["cli"],
    ["__main__"],
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
FUZZER_LAYERS = [
    ["problems"],
    ["records"],
    ["referee", "running"],
    ["subjects"],
    ["certificates", "files", "minimising", "margins"],
    ["scores"],
    ["soak", "__main__"],
    ["table"],
]
FUZZER_RANK = {name: rank for rank, layer in enumerate(FUZZER_LAYERS) for name in layer}
FUZZER = Path(__file__).parents[1] / "fuzz"
ROOT = Path(ellzero.__file__).parent
SHARED_WITH_THE_VERIFIER = (
    "devices",
    "errors",
    "imports",
    "progress",
    "quoting",
    "reading",
)  # modules of base: how to read files, not what is in them
OPTIONAL = ("pandas", "matplotlib", "sklearn", "joblib", "dask", "cloudpickle", "highspy", "pyscipopt", "gurobipy", "onnx")
SLOW = ("scipy.sparse", "scipy.special", "scipy.stats", "importlib.metadata")


def modules() -> list[Path]:
    """Return the files of the package but for the root's own, which imports from all public rooms."""
    files = [file for file in ROOT.rglob("*.py") if file != ROOT / "__init__.py"]
    assert len(files) > 100
    return files


def imports(file: Path) -> Iterator[str]:
    """Return every module that a file imports: at its top, inside functions and under TYPE_CHECKING."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            assert node.module is not None
            if node.module == "ellzero":  # a room of the package, or one of the root's public names
                yield from (f"ellzero.{alias.name}" if alias.name in RANK else "ellzero" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def own_imports(file: Path) -> list[str]:
    """Return the modules of this package that a file imports."""
    return [module for module in imports(file) if module.split(".")[0] == "ellzero"]


def room_of(module: str) -> str:
    """Return the room of a module's full name: its first part below the root, or the root itself."""
    return module.split(".")[1] if "." in module else "ellzero"


def test_imports_go_one_way():
    wrong = []
    for file in modules():
        room = file.relative_to(ROOT).parts[0].removesuffix(".py")
        assert room in RANK, f"{file}: give the new module a layer"
        for module in own_imports(file):
            if room_of(module) != room and RANK[room_of(module)] >= RANK[room]:
                wrong.append(f"{file.relative_to(ROOT)} imports {module}")
    assert not wrong, "\n".join(wrong)


def test_plots_know_no_results():
    for file in (ROOT / "plots").glob("*.py"):
        rooms = {room_of(module) for module in own_imports(file)}
        assert rooms <= {"base", "tables", "problem", "plots"}, f"{file} imports from {rooms}"


def test_verifier_shares_no_code_with_the_solver():
    files = list((ROOT / "exact" / "verifier").glob("*.py"))
    assert len(files) > 3
    allowed = [f"ellzero.base.{name}" for name in SHARED_WITH_THE_VERIFIER]
    for file in files:
        for module in own_imports(file):
            own = module.startswith("ellzero.exact.verifier") or module in allowed
            assert own, f"{file} imports {module}"


def late_imports(file: Path) -> Iterator[ast.stmt]:
    """Return the imports inside of functions that Ctrl-C could leave half done."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.With) and "whole_imports(" in ast.unparse(node.items[0])]
    guarded = {inner for block in blocks for inner in ast.walk(block)}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom) and node not in guarded:
                    yield node


def test_late_imports_are_whole():
    for file in modules():
        if file != ROOT / "base" / "imports.py":
            assert not [node.lineno for node in late_imports(file)], f"{file}: put these lines into `with whole_imports():`"
            assert "import_module(" not in file.read_text(encoding="utf-8"), f"{file}: use `import_whole`"


def test_every_room_says_what_belongs_there():
    rooms = {file.parent for file in modules()} - {ROOT}
    assert len(rooms) > 10
    for room in rooms:
        text = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
        first, _, rest = text.partition("\n")
        assert first.endswith("."), f"{room}: its __init__.py begins with one line that says what belongs there"
        assert not rest or rest.startswith("\n"), f"{room}: the sentence on what belongs there fits on one line"


def test_the_fuzzer_imports_one_way():
    files = [file for file in FUZZER.rglob("*.py") if file != FUZZER / "__init__.py"]
    assert len(files) > 30
    for file in files:
        room = file.relative_to(FUZZER).parts[0].removesuffix(".py")
        assert room in FUZZER_RANK, f"{file}: give the new module a layer"
        for module in imports(file):
            if module.startswith("fuzz."):
                other = module.split(".")[1]
                assert other == room or FUZZER_RANK[other] < FUZZER_RANK[room], f"{file} imports {module}"


def test_referees_share_no_code_with_the_package():
    files = [*(FUZZER / "referee").glob("*.py"), FUZZER / "problems" / "problem.py", FUZZER / "problems" / "drawing.py"]
    assert len(files) > 4
    for file in files:
        assert not own_imports(file), f"{file} imports {own_imports(file)}"


def test_core_knows_no_python():
    sources = ROOT.parents[1] / "cpp"
    if not sources.exists():  # an installed wheel without the sources beside it
        sources = Path(__file__).parents[1] / "cpp"
    core = [*sources.glob("include/**/*.hpp"), *sources.glob("src/**/*.cpp")]
    assert len(core) > 10
    for file in core:
        assert "nanobind" not in file.read_text(), file
        assert "Python.h" not in file.read_text(), file


def modules_after(code: str) -> set[str]:
    """Return those of the modules that start-up should do without that are there once a program has run."""
    code = f"import sys\n{code}\nprint(*[m for m in {[*OPTIONAL, *SLOW]} if m in sys.modules])"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_start_up_imports_nothing_optional_and_nothing_slow():
    assert modules_after("import ellzero") == set()


def test_fits_and_proofs_import_nothing_optional():
    code = """
        import numpy as np, ellzero as ez
        X = np.random.default_rng(0).standard_normal((40, 5))
        y = np.where(X[:, 0] > 0, 1, -1)
        ez.fit_path(X, y)
        assert ez.verify(ez.solve(X, y, k=1, lambda_2=0.1).certificate, X, y).valid
    """
    assert modules_after(textwrap.dedent(code)) <= set(SLOW) - {"scipy.stats"}


def test_public_names_are_the_same_for_all_who_ask():
    """The root lists its names for type checkers, for `__getattr__` and for `import *`."""
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    places = {name: f"ellzero.{place}" if ellzero.PLACES[place] else "ellzero" for name, place in ellzero.PLACE_OF.items()}
    assert seen == places
    errors = {"ClusterError", "DatasetError", "EllzeroError", "FragileModelWarning", "InvalidInputError"}
    assert sorted({*places, *errors}) == sorted(ellzero.__all__)
    assert {*ellzero.__all__, "__version__"} <= set(dir(ellzero))
    for name in ellzero.__all__:
        assert getattr(ellzero, name) is getattr(ellzero, name)
    with pytest.raises(AttributeError, match="'nothing'"):
        _ = ellzero.nothing
