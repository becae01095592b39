"""The pages that `make bench` and its relatives write into benchmarks/results, as a part of the site."""

from pathlib import Path

from mkdocs.structure.files import File

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def on_files(files, config):
    """Add the results and their pictures."""
    for pattern in ("*.md", "*.png", "*.svg"):
        for file in RESULTS.glob(pattern):
            files.append(File.generated(config, f"benchmarks/{file.name}", abs_src_path=str(file)))
    return files


def on_page_markdown(markdown, page, **_):
    """List them at the end of the page on benchmarks."""
    if page.file.src_uri != "benchmarks.md":
        return markdown
    entries = "\n".join(f"- [{title(file)}](benchmarks/{file.name})" for file in sorted(RESULTS.glob("*.md")))
    return f"{markdown}\n{entries}\n"


def title(page):
    """The first heading."""
    return page.read_text().splitlines()[0].removeprefix("# ")
