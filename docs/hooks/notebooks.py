"""Examples as notebooks: a script in cells is run cell by cell, and what it prints and draws is kept with the code.

A script begins with a docstring (a title and what it is about). Then ``# %%`` begins a cell of code and ``# %% [markdown]`` one
of text, as editors and Jupytext read them. `python docs/hooks/notebooks.py SCRIPT FOLDER` runs one and writes
FOLDER/notebook.ipynb.
"""

import ast
import base64
import contextlib
import hashlib
import io
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

MARK = "# %%"


@dataclass
class Cell:
    """Text in Markdown, or code with what it printed and drew (PNG)."""

    kind: str  # "markdown" or "code"
    source: str
    printed: str = ""
    figures: list = field(default_factory=list)


def read_cells(script):
    """The cells of a script; the first one is its docstring, as a heading and text."""
    source = script.read_text()
    title, _, text = ast.get_docstring(ast.parse(source)).partition("\n\n")
    cells = [Cell("markdown", f"# {title.rstrip('.')}\n\n{text}")]
    for part in source.split(f"\n{MARK}")[1:]:
        first, _, body = part.partition("\n")
        if first.strip() == "[markdown]":
            lines = [line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines()]
            cells.append(Cell("markdown", "\n".join(lines)))
        else:
            cells.append(Cell("code", body.strip()))
    return cells


def run_cells(cells, name):
    """Run the cells of code one after the other, as a notebook does."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell.kind != "code":
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(cell.source, f"{name}, cell {number}", "exec"), names)
        cell.printed = out.getvalue()
        for figure in map(plt.figure, plt.get_fignums()):
            picture = io.BytesIO()
            figure.savefig(picture, dpi=110)
            cell.figures.append(base64.b64encode(picture.getvalue()).decode())
        plt.close("all")


def notebook(cells):
    """The notebook (format 4.5) as text."""
    return json.dumps(
        {
            "cells": [notebook_cell(number, cell) for number, cell in enumerate(cells)],
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                "language_info": {"name": "python"},
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        indent=1,
    )


def notebook_cell(number, cell):
    """One cell of a notebook; its name is made of its content, so that the same example gives the same file."""
    name = hashlib.sha256(f"{number} {cell.source}".encode()).hexdigest()[:12]
    out = {"cell_type": cell.kind, "id": name, "metadata": {}, "source": cell.source.splitlines(keepends=True)}
    if cell.kind == "markdown":
        return out
    outputs = []
    if cell.printed:
        outputs.append({"output_type": "stream", "name": "stdout", "text": cell.printed.splitlines(keepends=True)})
    for figure in cell.figures:
        outputs.append({"output_type": "display_data", "data": {"image/png": figure}, "metadata": {}})
    return {**out, "execution_count": None, "outputs": outputs}


def load_cells(path):
    """The cells of a notebook that was written here."""
    cells = []
    for entry in json.loads(path.read_text())["cells"]:
        outputs = entry.get("outputs", [])
        printed = "".join("".join(output["text"]) for output in outputs if output["output_type"] == "stream")
        figures = [output["data"]["image/png"] for output in outputs if output["output_type"] == "display_data"]
        cells.append(Cell(entry["cell_type"], "".join(entry["source"]), printed, figures))
    return cells


def main(script, folder):
    """Run a script, and write its notebook."""
    cells = read_cells(script)
    run_cells(cells, script.name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "notebook.ipynb").write_text(notebook(cells))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
