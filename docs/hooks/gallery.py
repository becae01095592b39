"""Gallery pages: each example is run, and its page shows what it says, what it printed, what it drew, and its code.

Results are kept in build/gallery until the example changes (`make docs` starts anew), so that `mkdocs serve` stays quick.
"""

import ast
import hashlib
import os
import subprocess
import sys
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
KEPT = ROOT / "build" / "gallery"
NAMES = ("gene_expression", "text", "fraud", "certificate", "digits")
TIME_LIMIT = 300


def on_files(files, config):
    """Add the pages and their figures."""
    entries = []
    for name in NAMES:
        script = EXAMPLES / f"{name}.py"
        folder = results(script)
        title, text = description(script)
        entries.append((name, title, text.split("\n\n")[0]))
        files.append(File.generated(config, f"gallery/{name}.md", content=page(script, title, text, folder)))
        files.append(File.generated(config, f"gallery/{name}.png", abs_src_path=str(folder / "figure.png")))
    files.append(File.generated(config, "gallery/index.md", content=overview(entries)))
    return files


def results(script):
    """The folder with figure.png and output.txt of an example, run if that has not been done."""
    folder = KEPT / script.stem
    mark = folder / hashlib.sha256(script.read_bytes()).hexdigest()
    if mark.exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    settings = {**os.environ, "MPLBACKEND": "Agg", "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(script), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, env=settings, check=False)
    if done.returncode or not (folder / "figure.png").exists():
        raise PluginError(f"{script.name} failed:\n{done.stdout}\n{done.stderr}")
    (folder / "output.txt").write_text(done.stdout.replace(str(folder), "."))
    mark.touch()
    return folder


def description(script):
    """The title and the text of an example: the first line of its docstring, and the rest."""
    title, _, text = ast.get_docstring(ast.parse(script.read_text())).partition("\n\n")
    return title.rstrip("."), text


def code(script):
    """All but the docstring, which the page shows as text."""
    source = script.read_text()
    return "\n".join(source.splitlines()[ast.parse(source).body[0].end_lineno :]).strip()


def page(script, title, text, folder):
    """One example."""
    return f"""# {title}

{text}

![{title}]({script.stem}.png)

## What it prints

```text
{(folder / "output.txt").read_text().rstrip()}
```

## The code

`python examples/{script.name} FOLDER` runs it and puts the figure into that folder.

```python
{code(script)}
```
"""


def overview(entries):
    """All examples as cards."""
    cards = "\n".join(
        f"-   [![{title}]({name}.png)]({name}.md)\n\n    **[{title}]({name}.md)**\n\n    {text.replace(chr(10), ' ')}\n"
        for name, title, text in entries
    )
    return f"""# Gallery

Short programs for problems as people have them. The data is made up on the spot, so all run without a network; figures and
output on these pages are made when this site is built.

<div class="grid cards" markdown>

{cards}
</div>
"""
