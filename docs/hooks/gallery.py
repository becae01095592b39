"""Gallery pages: each example is run as a notebook, and its page shows text, code, what was printed and what was drawn.

Results are kept in build/gallery until the example changes (`make docs` starts anew), so that `mkdocs serve` stays quick.
"""

import base64
import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
KEPT = ROOT / "build" / "gallery"
NAMES = ("tumours", "missed", "diabetes", "words", "digits", "certificate")
TIME_LIMIT = 300
RUNNER = Path(__file__).with_name("notebooks.py")


def load_notebooks():
    """The module beside this one; MkDocs loads hooks from their files, outside any package."""
    spec = importlib.util.spec_from_file_location("notebooks", RUNNER)
    module = sys.modules["notebooks"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def on_files(files, config):
    """Add the pages, the notebooks and the figures."""
    notebooks, entries = load_notebooks(), []
    for name in NAMES:
        kept = results(EXAMPLES / f"{name}.py")
        cells = notebooks.load_cells(kept)
        title, _, text = cells[0].source.partition("\n\n")
        entries.append((name, title.removeprefix("# "), text.split("\n\n")[0]))
        files.append(File.generated(config, f"gallery/{name}.md", content=page(name, cells)))
        files.append(File.generated(config, f"gallery/{name}.ipynb", content=kept.read_bytes()))
        for number, figure in enumerate(figure for cell in cells for figure in cell.figures):
            files.append(File.generated(config, f"gallery/{name}-{number + 1}.png", content=base64.b64decode(figure)))
    files.append(File.generated(config, "gallery/index.md", content=overview(entries)))
    return files


def results(script):
    """The notebook of an example, run if that has not been done."""
    folder = KEPT / script.stem
    mark = folder / hashlib.sha256(script.read_bytes() + RUNNER.read_bytes()).hexdigest()
    if not mark.exists():
        folder.mkdir(parents=True, exist_ok=True)
        settings = {**os.environ, "MPLBACKEND": "Agg", "PYTHONWARNINGS": "error"}
        command = [sys.executable, str(RUNNER), str(script), str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, env=settings, check=False)
        if done.returncode:
            raise PluginError(f"{script.name} failed:\n{done.stdout}\n{done.stderr}")
        mark.touch()
    return folder / "notebook.ipynb"


def page(name, cells):
    """One example."""
    download = (
        f"[Notebook, to download]({name}.ipynb){{ .md-button download={name}.ipynb }}\n\n"
        f"*Or run `python examples/{name}.py`. What is shown here was printed and drawn when this site was built.*"
    )
    parts, figures = [cells[0].source, download], 0
    for cell in cells[1:]:
        if cell.kind == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        if cell.printed:
            parts.append(f"```text\n{cell.printed.rstrip()}\n```")
        for _ in cell.figures:
            figures += 1
            parts.append(f"![Figure {figures} of this example]({name}-{figures}.png)")
    return "\n\n".join(parts) + "\n"


def overview(entries):
    """All examples as cards."""
    cards = "\n".join(
        f"-   [![{title}]({name}-1.png)]({name}.md)\n\n    **[{title}]({name}.md)**\n\n    {text.replace(chr(10), ' ')}\n"
        for name, title, text in entries
    )
    return f"""# Gallery

Short programs on real data that comes with scikit-learn, so that all run without a network. Each is a notebook to download;
what it printed and drew was made when this site was built.

<div class="grid cards" markdown>

{cards}
</div>
"""
