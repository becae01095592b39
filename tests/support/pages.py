"""Runs what the documentation's pages show: Python blocks, `ellzero` commands in shell blocks, and the output below them.

`python tests/support/pages.py` says which pages show something else than what is printed; with `--write` it puts them right.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if re.search(r"```(python|sh)\n", page.read_text()))
BLOCK = re.compile(r"```(python|sh)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e[+-]?\d+)?")


def run_page(page: Path) -> Iterator[tuple[re.Match[str], str]]:
    """The blocks of a page, and what each printed; they share their names and the present folder."""
    scope: dict[str, object] = {"__name__": "__page__"}
    for block in BLOCK.finditer(page.read_text()):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if block[1] == "python":
                exec(compile(block[2], str(page), "exec"), scope)
            else:
                run_commands(block[2])
        yield block, printed.getvalue().rstrip()


def run_commands(text: str) -> None:
    """The commands of a shell block that are ellzero's; others (pip, make) are for people."""
    from ellzero.cli import main

    for line in text.splitlines():
        if line.startswith("ellzero "):
            code = main(shlex.split(line)[1:])
            assert code == 0, f"exit code {code}: {line}"


def same(shown: str, printed: str) -> bool:
    """Equal but for the last digits of numbers, which may differ between processors."""
    first, second = NUMBER.findall(shown), NUMBER.findall(printed)
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", printed).split() or len(first) != len(second):
        return False
    return all(
        a == b if "." not in a + b and "e" not in a + b else abs(float(a) - float(b)) <= 1e-3 * max(1.0, abs(float(b)))
        for a, b in zip(first, second, strict=True)
    )


def rewritten(page: Path) -> str:
    """The page with the output that its blocks print."""
    text = page.read_text()
    for block, printed in run_page(page):
        if block[3] is not None and not same(block[3], printed):
            text = text.replace(block[0], block[0].replace(f"```text\n{block[3]}```", f"```text\n{printed}\n```"))
    return text


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            text = rewritten(page)
            os.chdir(ROOT)
        if text != page.read_text():
            print(f"{page.relative_to(ROOT)}: output differs")
            if "--write" in sys.argv[1:]:
                page.write_text(text)
