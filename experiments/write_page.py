"""Put the experiments' results into the page on the reproduction.

    python -m experiments.write_page [FOLDER]

copies the reports and pictures that a run wrote to FOLDER (if it is given) to experiments/results, and
renews every block of docs/reproduction.md between `<!-- NAME -->` and `<!-- end of NAME -->`: the picture, the main table and
a link to the whole report. The text around the blocks is written by hand.
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
FOLDER = "../experiments/results"  # from the page

# The tables of each report that the page shows: their captions, and their numbers in the report.
SHOWN: dict[str, dict[str, int]] = {
    "fig1": {"F1 score of the chosen features (1: exactly the true ones)": 0},
    "fig2": {"F1 score of the chosen features (1: exactly the true ones)": 0},
    "table2": {"Setting 1, model chosen by the paper's rule": 0, "Setting 2, model chosen by the paper's rule": 3},
    "fig3": {"Arcene, AUC on test rows": 0, "Dorothea, AUC on test rows": 1, "Dexter, AUC on test rows": 2},
    "fig4": {"Seconds for a path of 100 models": 0},
    "table3": {"Seconds to a proof": 0},
    "rates": {"Error against n": 1},
}


def collect(folder: Path) -> None:
    """Copy the reports, records and pictures of a run, except quick ones."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in EXPERIMENTS:
        for file in [folder / f"{name}.md", folder / f"{name}.jsonl", *sorted(folder.glob(f"{name}*.png"))]:
            if file.exists() and "-quick" not in file.name:
                shutil.copy(file, RESULTS / file.name)


def block(name: str) -> str:
    """Return what the page shows of a report: picture, main tables, the command that made it and a link."""
    report = (RESULTS / f"{name}.md").read_text()
    tables = re.findall(r"(?:^\|.*\n)+", report, flags=re.MULTILINE)
    parts = [f"![{text}]({FOLDER}/{file})" for text, file in re.findall(r"!\[(.*?)\]\((.*?)\)", report)]
    parts += [f"**{caption}**\n\n{tables[number].strip()}" for caption, number in SHOWN.get(name, {}).items()]
    made = next(line for line in report.splitlines() if line.startswith("`python -m"))
    return "\n\n".join([*parts, f"{made} [All tables]({FOLDER}/{name}.md)."])


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
    PAGE.write_text(renewed(PAGE.read_text()))


if __name__ == "__main__":
    main()
