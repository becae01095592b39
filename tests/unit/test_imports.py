"""Ctrl-C while modules are imported late: the imports are finished first, so that the next use works."""

import importlib
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from ellzero.base.imports import import_whole, whole_imports

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

# Sends Ctrl-C when a certain module is looked for, however slow the machine is.
FIRST_USE = """
    import os, signal, sys
    import numpy as np
    import ellzero as ez

    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name == sys.argv[-1]:
                sys.argv.pop()  # once
                os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with Ctrl-C ignored
    X = np.random.default_rng(0).standard_normal((60, 10))
    y = (X[:, 0] > 0.0).astype(int)
    sys.meta_path.insert(0, Finder())
    try:
        {use}
    except KeyboardInterrupt:
        print("interrupted")
    {use}
    print("works")
"""
CROSS_VALIDATION = "ez.L0ClassifierCV(cv=3).fit(X, y)"
PLOT = "ez.fit_path(X, y, max_support=2).plot()"


@pytest.mark.parametrize(
    ("use", "module"),
    [(CROSS_VALIDATION, name) for name in ("sklearn", "joblib", "asyncio.tasks")] + [(PLOT, "matplotlib.text")],
)
def test_the_first_use_can_be_interrupted(use, module):
    code = textwrap.dedent(FIRST_USE).format(use=use)
    child = subprocess.run([sys.executable, "-c", code, module], capture_output=True, text=True, timeout=250)
    assert child.stdout.split("\n")[:2] == ["interrupted", "works"], child.stderr


def test_a_package_that_would_not_survive_its_interruption(tmp_path, monkeypatch):
    """Like asyncio: Python forgets the package but not its parts, and does not name them in the package that it makes anew."""
    monkeypatch.syspath_prepend(tmp_path)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    press_once = "import os, signal\nif os.environ.pop('PRESS', ''): os.kill(os.getpid(), signal.SIGINT)\n"
    try:
        for name in ("bare", "guarded"):
            package = tmp_path / name
            package.mkdir()
            (package / "__init__.py").write_text(f"from .first import *\n{press_once}names = first.names\n")
            (package / "first.py").write_text("names = ['a']\n")
        monkeypatch.setenv("PRESS", "once")
        with pytest.raises(KeyboardInterrupt):
            importlib.import_module("bare")
        with pytest.raises(NameError):
            importlib.import_module("bare")
        monkeypatch.setenv("PRESS", "once")
        with pytest.raises(KeyboardInterrupt):
            import_whole("guarded")
        assert import_whole("guarded").names == ["a"]
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def interrupts():
    """The signals that a handler of the user gets."""
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    yield seen
    signal.signal(signal.SIGINT, before)


def press():
    """Ctrl-C in this process; returns when Python has seen it."""
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        pass


def interrupted_failure():
    with whole_imports():
        press()
        raise ImportError("no such module")


def test_the_users_handler_acts_once_at_the_end(interrupts):
    handler = signal.getsignal(signal.SIGINT)
    with whole_imports():
        press()
        with whole_imports():
            press()
            assert interrupts == []
        press()
        assert interrupts == []
    assert interrupts == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is handler


def test_modules_that_are_there_cost_nothing(interrupts):
    handler = signal.getsignal(signal.SIGINT)
    with whole_imports("os", "sys"):
        assert signal.getsignal(signal.SIGINT) is handler
    with whole_imports("os", "not there"):
        assert signal.getsignal(signal.SIGINT) is not handler
        press()
        assert interrupts == []
    assert interrupts == [signal.SIGINT]


def test_ctrl_c_after_an_import_that_fails():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted_failure()
        with pytest.raises(ImportError):
            import_whole("ellzero.no_such_module")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_a_signal_without_a_handler_is_left_alone(handler):
    before = signal.signal(signal.SIGINT, handler)
    try:
        with whole_imports():
            assert signal.getsignal(signal.SIGINT) is handler
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_import_as_ever(interrupts):
    modules = []
    thread = threading.Thread(target=lambda: modules.append(import_whole("json")))
    thread.start()
    thread.join()
    assert modules == [sys.modules["json"]]
    press()
    assert interrupts == [signal.SIGINT]
