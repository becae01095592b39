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

F1 = ("F1 score of the chosen features (1: exactly the true ones)", 0, (0, 2, 4, 6))
SETTINGS = {"1": 0, "2": 3}
# The tables of each report that the page shows: the caption, the table's number in the report, and its columns (none: all).
SHOWN: dict[str, list[tuple[str, int, tuple[int, ...]]]] = {
    "fig1": [F1],
    "fig2": [F1],
    "table2": [(f"Setting {s}, model chosen by the paper's rule", at, (0, 1, 2, 5, 8)) for s, at in SETTINGS.items()],
    "fig4": [("Seconds for a path of 100 models", 0, ())],
    "table3": [("Seconds to a proof", 0, ())],
    "rates": [("Error against n", 1, (0, 1))],
}


def collect(folder: Path) -> None:
    """Copy the reports, records and pictures of a run, except quick ones."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in EXPERIMENTS:
        for file in [folder / f"{name}.md", folder / f"{name}.jsonl", *sorted(folder.glob(f"{name}*.png"))]:
            if file.exists() and "-quick" not in file.name:
                shutil.copy(file, RESULTS / file.name)


def narrowed(table: str, columns: tuple[int, ...]) -> str:
    """Return some columns of a table."""
    if not columns:
        return table.strip()
    lines = [line.strip("|").split("|") for line in table.strip().splitlines()]
    return "\n".join(f"|{'|'.join(cells[column] for column in columns)}|" for cells in lines)


def block(name: str) -> str:
    """Return what the page shows of a report: picture, main tables, the command that made it and a link."""
    report = (RESULTS / f"{name}.md").read_text()
    tables = re.findall(r"(?:^\|.*\n)+", report, flags=re.MULTILINE)
    parts = [f"![{text}]({FOLDER}/{file})" for text, file in re.findall(r"!\[(.*?)\]\((.*?)\)", report)]
    parts += [f"**{caption}**\n\n{narrowed(tables[number], columns)}" for caption, number, columns in SHOWN.get(name, [])]
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
