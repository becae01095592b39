"""Pages about the repository name files that are there, show the tree as it is, and give the figures of the tables."""

import re
import runpy
from pathlib import Path

import pytest
from support.pages import ROOT

from ellzero.problem.losses import LOSSES

MAP = ROOT / "ARCHITECTURE.md"
README = ROOT / "README.md"
LAYERS = ROOT / "docs" / "assets" / "layers.svg"
ABOUT = [MAP, ROOT / "CONTRIBUTING.md", README, *sorted((ROOT / "docs" / "design").glob("*.md"))]
FILE = r"(?:[\w.-]+/)*[\w-]+\.(?:py|pyi|cpp|hpp|md|toml|yml|txt|R|svg|png)"
FOLDER = r"(?:[\w.-]+/)+"
# Where the map's walks begin to spell a path.
ROOMS = (ROOT, ROOT / "src" / "ellzero", ROOT / "cpp", ROOT / "cpp" / "src")


def exists(folder, path):
    return (folder / path).is_dir() if path.endswith("/") else (folder / path).is_file()


@pytest.mark.parametrize("page", ABOUT, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_and_linked_files_exist(page):
    text = page.read_text()
    named = re.findall(rf"`({FILE}|{FOLDER})`", text)
    linked = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    assert [path for path in named if not exists(ROOT, path)] == []
    assert [path for path in linked if not exists(page.parent, path)] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_work_in_a_checkout(page):
    linked = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text())
    assert [path for path in linked if not (page.parent / path).exists()] == []


def test_walks_pass_files_that_exist():
    walks = MAP.read_text().partition("## Four walks")[2]
    passed = re.findall(rf"(?<![\w/.`])({FILE}|{FOLDER})(?![\w.])", walks)
    assert len(passed) > 20
    assert [path for path in passed if not any(exists(room, path) for room in ROOMS)] == []


def drawn_tree():
    """Folders of the map's tree, each with what its line says."""
    drawing = re.search(r"```text\n\.\n(.*?)```", MAP.read_text(), flags=re.DOTALL)[1]
    folders, above = {}, []
    for line in drawing.splitlines():
        branch, name, words = re.fullmatch(r"((?:│   |    )*[├└]── )([\w-]+)/ *(.*)", line).groups()
        above = [*above[: len(branch) // 4 - 1], name]
        folders["/".join(above)] = words
    return folders


def files_below(folder):
    """Files that belong to the repository, as far as can be told without git."""
    return [file for file in folder.rglob("*") if file.is_file() and file.suffix not in (".pyc", ".so")]


def test_the_map_draws_every_folder():
    drawn = drawn_tree()
    files = [file.relative_to(ROOT) for top in {path.split("/")[0] for path in drawn} for file in files_below(ROOT / top)]
    there = {folder.as_posix() for file in files for folder in file.parents} - {"."}
    headers, sources = (
        {folder.removeprefix(f"{place}/") for folder in there if folder.startswith(f"{place}/")}
        for place in ("cpp/include/ellzero", "cpp/src")
    )
    assert headers == sources  # so the map draws these rooms once
    assert set(drawn) == {folder for folder in there if not folder.startswith("cpp/src/")}


def test_every_folder_says_what_belongs_there_and_what_it_may_import():
    drawn = drawn_tree()
    silent = {path for path, words in drawn.items() if not words.partition("<-")[0].strip()}
    assert all(any(other.startswith(f"{path}/") for other in drawn) for path in silent)  # nothing but folders
    code = {path for path in drawn if any(file.suffix in (".py", ".hpp") for file in (ROOT / path).iterdir())}
    unsaid = {path for path in code if not drawn[path].partition("<-")[2].strip()}
    assert unsaid <= {"src/ellzero", "tests"}


def test_the_picture_has_every_layer():
    boxes = {name.removesuffix(".py") for name in re.findall(r'class="name"[^>]*>([\w.]+)<', LAYERS.read_text())}
    rooms = {Path(path) for path in drawn_tree()}
    python = {room.name for room in rooms if room.parent == Path("src/ellzero")}
    core = {room.name for room in rooms if room.parent == Path("cpp/include/ellzero")}
    assert boxes == python | core | {"bindings", "metrics"}


def cell(table, row):
    """The number behind the cells that a row of a table begins with."""
    text = (ROOT / "benchmarks" / "results" / f"{table}.md").read_text()
    return re.search(rf"^\| {row} \| ([\d.]+) \|", text, flags=re.MULTILINE)[1]


@pytest.mark.parametrize("page", [README, ROOT / "docs" / "index.md"], ids=lambda page: page.name)
def test_small_fast_and_proved_are_figures_of_the_tables(page):
    chart = runpy.run_path(str(ROOT / "benchmarks" / "chart.py"))
    times = {tool: chart["shown"](seconds) for tool, seconds in chart["seconds_of"](chart["SECTION"]).items()}
    kept, kept_by_l1 = (cell("local_search", rf"{name} \| 20 \| .*?") for name in ("L0L2, local search", r"L1 \(glmnet\)"))
    proved = float(cell("exact", r"50,000 \| 0\.01 \| 0\.07 \| none"))
    text = " ".join(page.read_text().split())
    assert f"local search keeps {kept} on average, L1 {kept_by_l1}" in text
    assert f"takes {times['ellzero']}, glmnet's L1 path {times['glmnet']}" in text
    assert f"{proved:.0f} s without any assumption on the coefficients" in text
    for tool, time in times.items():
        assert f"{tool} {time.removesuffix(' s')}" in text  # of the chart, for those who cannot see it
        assert f">{time}<" in chart["CHART"].read_text()


def test_no_word_is_defined_twice():
    words = re.findall(r"^\| (?!term)([^|]+?) \|", (ROOT / "docs" / "glossary.md").read_text(), flags=re.MULTILINE)
    assert len(words) > 50
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("page", ["limits", "index"])
def test_pages_name_every_loss(page):
    text = (ROOT / "docs" / f"{page}.md").read_text()
    assert [name for name in LOSSES if f"`{name}`" not in text] == []
