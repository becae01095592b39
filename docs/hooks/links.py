"""Links that are right in the repository become links that are right on the site.

Pages link to files as they lie in the repository, so that they also work where it is browsed. The site has the tables of
benchmarks/results under benchmarks/, and the two pages of the root that are added here.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
TABLES = "benchmarks/results/"
ADDED = {"ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md"}
ELSEWHERE = {**ADDED, "CHANGELOG.md": "changelog.md", "README.md": "index.md"}
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)([^)\s]*)\)")


def on_files(files, config):
    """Add the pages of the root."""
    for source, page in ADDED.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    return files


def on_page_markdown(markdown, page, **_):
    """Rewrite links that leave the folder of the pages, or that start outside it."""
    here = page.file.src_uri
    folder = "" if here in ADDED.values() else posixpath.join("docs", posixpath.dirname(here))

    def rewrite(match):
        target = site_path(posixpath.normpath(posixpath.join(folder, match[1])))
        if target is None:
            return match[0]
        return f"]({posixpath.relpath(target, posixpath.dirname(here) or '.')}{match[2]})"

    return LINK.sub(rewrite, markdown)


def site_path(path):
    """Return where a file of the repository is on the site; None if it is not there."""
    if path.startswith(TABLES):
        return f"benchmarks/{path.removeprefix(TABLES)}"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return ELSEWHERE.get(path)
