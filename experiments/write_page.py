"""Put the experiments' results into the page on the reproduction.

    python -m experiments.write_page [FOLDER]

copies the reports and pictures that a run wrote to FOLDER (if it is given) to experiments/results, and
renews every block of docs/reproduction.md between `<!-- NAME -->` and `<!-- end of NAME -->`. What is said around the blocks is
written by hand.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from experiments import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "experiments" / "results"
PAGE = ROOT / "docs" / "reproduction.md"
PICTURES = "assets/reproduction"


def collect(folder: Path) -> None:
    """Copy the reports, records and pictures of a run, except quick ones."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in EXPERIMENTS:
        for file in [folder / f"{name}.md", folder / f"{name}.jsonl", *sorted(folder.glob(f"{name}*.png"))]:
            if file.exists() and "-quick" not in file.name:
                shutil.copy(file, RESULTS / file.name)


def block(name: str) -> str:
    """Return a report as part of the page: without its heading, headings one level lower, pictures with the page's paths."""
    body = (RESULTS / f"{name}.md").read_text().split("\n", 1)[1].strip()
    body = re.sub(r"^### ", "#### ", body, flags=re.MULTILINE)
    return re.sub(r"\]\(([^)/]+\.png)\)", rf"]({PICTURES}/\1)", body)


def renewed(text: str) -> str:
    """Return the page with the present results."""
    for name in EXPERIMENTS:
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if begin not in text:
            raise SystemExit(f"{PAGE.name} has no place for {name}.")
        before, rest = text.split(begin, 1)
        text = f"{before}{begin}\n{block(name)}\n{end}{rest.split(end, 1)[1]}"
    return text


def main() -> None:
    """Copy new results if a folder is given, then renew the page."""
    if len(sys.argv) > 1:
        collect(Path(sys.argv[1]))
    folder = PAGE.parent / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    for picture in RESULTS.glob("*.png"):
        shutil.copy(picture, folder / picture.name)
    PAGE.write_text(renewed(PAGE.read_text()))


if __name__ == "__main__":
    main()
