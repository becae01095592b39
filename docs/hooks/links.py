"""Links that are right in the repository become links that are right on the site.

Pages link to files by their place in the repository, so that links also work where it is browsed. The site has
benchmarks/results under benchmarks/, experiments/results under experiments/, the two pages of the root that are added here, and
the examples as its gallery.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
RESULTS = re.compile(r"(benchmarks|experiments)/results/(.+)")
ADDED = {"ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md"}
ELSEWHERE = {
    **ADDED,
    "CHANGELOG.md": "changelog.md",
    "README.md": "index.md",
    "examples": "gallery/index.md",
    "docs/hooks/report.py": "guide/report-example.html",
}
EXAMPLE = re.compile(r"examples/(\w+)\.py")
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)([^)\s]*)\)")


def on_files(files, config):
    """Add the pages of the root."""
    for source, page in ADDED.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    return files


def on_page_markdown(markdown, page, **_):
    """Rewrite links that leave the folder of the pages, or that start outside it."""
    here = page.file.src_uri
    folder = folder_of(here)

    def rewrite(match):
        target = site_path(posixpath.normpath(posixpath.join(folder, match[1])))
        if target is None:
            return match[0]
        return f"]({posixpath.relpath(target, posixpath.dirname(here) or '.')}{match[2]})"

    return LINK.sub(rewrite, markdown)


def folder_of(here):
    """Return the folder of a page in the repository."""
    folder = posixpath.dirname(here)
    if here in ADDED.values():
        return ""
    return f"{folder}/results" if folder in ("benchmarks", "experiments") else posixpath.join("docs", folder)


def site_path(path):
    """Return where a file of the repository is on the site; None if it is not there."""
    if result := RESULTS.fullmatch(path):
        return f"{result[1]}/{result[2]}"
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    if example := EXAMPLE.fullmatch(path):
        return f"gallery/{example[1]}.md"
    return path.removeprefix("docs/") if path.startswith("docs/") else None
