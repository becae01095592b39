"""The README's example, the docstrings' examples, the documentation's pages and the examples folder run as they stand."""

import base64
import doctest
import importlib
import inspect
import json
import pkgutil
import re
import runpy
import socket

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from support.pages import PAGES, ROOT, run_page, same

import ellzero

MODULES = [name for _, name, _ in pkgutil.walk_packages(ellzero.__path__, "ellzero.") if not name.endswith("_core")]


@pytest.mark.parametrize("name", ["ellzero", *MODULES])
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_public_functions_have_running_examples():
    for name in ("fit_path", "fit_grid", "lambda_grid", "objective", "check_stationarity", "solve", "certify_path", "verify"):
        assert ">>>" in getattr(ellzero, name).__doc__, name


# Classes that users make themselves; all others are results, whose attributes are described.
MADE_BY_USERS = (
    "L0Classifier",
    "L0ClassifierCV",
    "L0Regressor",
    "L0RegressorCV",
    "L0Selector",
    "ColumnWriter",
    "SparseColumnWriter",
)


def described_arguments(text):
    """The names in a docstring's list of parameters, and all that stand in backticks."""
    lists = re.findall(r"^ *Parameters\n *-+\n(.*?)(?=^ *[A-Z]\w+\n *-{3}|\Z)", text, re.DOTALL | re.MULTILINE)
    entries = re.findall(r"^ *([\w*]+(?:,\s+[\w*]+)*) :", "\n".join(lists), re.MULTILINE)
    return {name.lstrip("*") for entry in entries for name in re.split(r",\s+", entry)} | set(re.findall(r"`(\w+)[`=]", text))


def public_callables():
    """Functions, classes that users make, and methods of public classes, by name."""
    for name in ellzero.__all__:
        found = getattr(ellzero, name)
        if inspect.ismodule(found):
            yield from ((f"{name}.{each}", getattr(found, each)) for each in found.__all__ if callable(getattr(found, each)))
        elif inspect.isclass(found):
            if name in MADE_BY_USERS:
                yield name, found
            for method, function in inspect.getmembers(found, inspect.isroutine):
                if not method.startswith("_") and getattr(function, "__module__", "").startswith("ellzero"):
                    yield f"{name}.{method}", function
        elif callable(found):
            yield name, found


def test_every_argument_is_described():
    missing = []
    for name, function in public_callables():
        if inspect.isclass(function) and (issubclass(function, Exception) or name.split(".")[-1] not in MADE_BY_USERS):
            continue
        kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        arguments = [p.name for p in inspect.signature(function).parameters.values() if p.kind not in kinds]
        known = described_arguments(inspect.getdoc(function) or "")
        missing += [f"{name}({argument})" for argument in arguments if argument != "self" and argument not in known]
    assert not missing, f"arguments without a description: {', '.join(missing)}"


def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, _ = ellzero.datasets.make_classification(100, 12, 2, s=3.0, random_state=0)
    pd.DataFrame(X, columns=[f"x{j}" for j in range(12)]).assign(label=y).to_csv("data.csv", index=False)  # of its commands
    readme = ROOT / "README.md"
    blocks = list(run_page(readme))
    assert [block[1] for block, _ in blocks] == ["sh", "python", "sh"]
    assert same(blocks[1][0][3].rstrip(), blocks[1][1])
    assert {"model.json", "proof.npz", "report.html"} <= {file.name for file in tmp_path.iterdir()}
    assert len(readme.read_text().split()) <= 500


def test_demo(tmp_path, capsys):
    script = runpy.run_path(str(ROOT / "examples" / "demo.py"))
    script["main"](tmp_path)
    out = capsys.readouterr().out
    assert "chosen model" in out
    assert "Certificate: valid" in out
    assert "predicts the same: True" in out
    assert (tmp_path / "report.html").stat().st_size > 50_000
    assert (tmp_path / "path.png").stat().st_size > 10_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block, printed in run_page(page):
        if block[1] == "python":
            shown = (block[3] or "").rstrip()
            assert same(shown, printed), f"shown:\n{shown}\nprinted:\n{printed}\n(tests/support/pages.py --write puts it right)"


def test_same_allows_last_digits_only():
    assert same("3 features, 0.12345 in [1 2]", "3 features, 0.12349 in [1 2]")
    assert same("gap 1e-07", "gap 3e-09")
    for printed in ("4 features, 0.5", "3 features, 0.51", "3 feature, 0.5", "3 features"):
        assert not same("3 features, 0.5", printed)


# Those that tell a story with a picture; the cluster's example runs in tests/api/test_dask.py.
GALLERY = sorted(script for script in (ROOT / "examples").glob("*.py") if script.stem not in ("demo", "dask_cluster"))


NOTEBOOKS = runpy.run_path(str(ROOT / "docs" / "hooks" / "notebooks.py"))


@pytest.mark.parametrize("script", GALLERY, ids=lambda script: script.stem)
def test_gallery(script, tmp_path, monkeypatch):
    """Every example runs as a notebook, on data that comes with scikit-learn, and its notebook can be read again."""
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patches:
        patches.setattr(socket, "socket", None)  # no network
        NOTEBOOKS["main"](script, tmp_path)
    plt.close("all")
    cells = NOTEBOOKS["load_cells"](tmp_path / "notebook.ipynb")
    assert cells[0].source.startswith("# ")
    assert sum(len(cell.printed.splitlines()) for cell in cells) >= 4
    figures = [base64.b64decode(figure) for cell in cells for figure in cell.figures]
    assert figures
    assert all(figure.startswith(b"\x89PNG") and len(figure) > 5000 for figure in figures)
    code = [cell.source for cell in cells if cell.kind == "code"]
    text = script.read_text()
    assert all(line in text for cell in code for line in cell.splitlines())
    assert any(word in text for word in ("sklearn.datasets", "sklearn.utils"))
    assert "make_classification" not in text
    notebook = json.loads((tmp_path / "notebook.ipynb").read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])


def test_every_example_is_in_the_gallery():
    names = re.search(r"NAMES = \((.*?)\)", (ROOT / "docs" / "hooks" / "gallery.py").read_text()).group(1)
    assert set(re.findall(r'"(\w+)"', names)) == {script.stem for script in GALLERY}
    assert all(f"gallery/{script.stem}.md" in (ROOT / "mkdocs.yml").read_text() for script in GALLERY)
