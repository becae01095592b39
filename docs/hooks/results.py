"""Adds the pages in benchmarks/results and experiments/results, which programs write, to the site."""

from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
FOLDERS = ("benchmarks", "experiments")
RESULTS = ROOT / "benchmarks" / "results"


def on_files(files, config):
    """Add the results and their pictures."""
    for folder in FOLDERS:
        for pattern in ("*.md", "*.png", "*.svg"):
            for file in (ROOT / folder / "results").glob(pattern):
                files.append(File.generated(config, f"{folder}/{file.name}", abs_src_path=str(file)))
    return files


def on_page_markdown(markdown, page, **_):
    """List the benchmarks at the end of their page."""
    if page.file.src_uri != "benchmarks.md":
        return markdown
    entries = "\n".join(f"- [{title(file)}](benchmarks/{file.name})" for file in sorted(RESULTS.glob("*.md")))
    return f"{markdown}\n{entries}\n"


def title(page):
    """The first heading."""
    return page.read_text().splitlines()[0].removeprefix("# ")
