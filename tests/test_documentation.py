"""The README's example, the docstrings' examples and the examples folder run as they stand."""

import doctest
import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import ellzero

ROOT = Path(__file__).parents[1]
MODULES = [name for _, name, _ in pkgutil.walk_packages(ellzero.__path__, "ellzero.") if not name.endswith("_core")]


@pytest.mark.parametrize("name", ["ellzero", *MODULES])
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_public_functions_have_running_examples():
    for name in ("fit_path", "fit_grid", "lambda_grid", "objective", "check_stationarity", "solve", "certify_path", "verify"):
        assert ">>>" in getattr(ellzero, name).__doc__, name


def test_readme_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the example writes a certificate
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    scope: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), scope)
    assert ellzero.verify("proof.npz", scope["X"], scope["y"]).valid
    assert scope["model"].support.tolist() == scope["truth"].nonzero()[0].tolist()  # type: ignore[attr-defined]


def test_demo(tmp_path, capsys):
    script = runpy.run_path(str(ROOT / "examples" / "demo.py"))
    script["main"](tmp_path)
    out = capsys.readouterr().out
    assert "chosen model" in out
    assert "Certificate: valid" in out
    assert (tmp_path / "path.png").stat().st_size > 10_000
