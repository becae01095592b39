"""The source archive: what is in it, and what the package index will show."""

import re
import subprocess
import sys
import tarfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOME = "https://github.com/ellzero/ellzero"
PICTURES = HOME.replace("github.com", "raw.githubusercontent.com")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The names in the archive, and the metadata."""
    folder = tmp_path_factory.mktemp("archive")
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    (file,) = folder.glob("ellzero-*.tar.gz")
    with tarfile.open(file) as content:
        names = [name.partition("/")[2] for name in content.getnames()]
        about = content.extractfile(f"{file.name.removesuffix('.tar.gz')}/PKG-INFO").read().decode()
    return names, Parser().parsestr(about)


def test_sources_without_figures(archive):
    names, _ = archive
    assert {"CMakeLists.txt", "cpp/src/data/kernels.cpp", "src/ellzero/__init__.py", "LICENSE", "README.md"} <= set(names)
    assert any(name.startswith("src/ellzero/report/template/") for name in names)
    assert not [name for name in names if name.endswith((".png", ".svg")) or name.startswith((".ci", ".github", "build"))]


def test_addresses_are_whole(archive):
    """Pages and pictures of the README are found from anywhere; each is a file of the repository."""
    _, about = archive
    assert about["Description-Content-Type"] == "text/markdown"
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]*)\)", about.get_payload())
    assert [mark for mark, _ in links].count("!") == 2
    for mark, link in links:
        home = f"{PICTURES}/HEAD/" if mark else f"{HOME}/blob/HEAD/"
        assert link.startswith((home, "#")), link
        assert (ROOT / link.removeprefix(home).partition("#")[0]).exists(), link


def test_metadata_say_where_it_lives(archive):
    _, about = archive
    urls = dict(entry.split(", ") for entry in about.get_all("Project-URL"))
    assert urls["Source"] == HOME
    assert urls.keys() == {"Source", "Documentation", "Changelog", "Issues"}
    assert all(url.startswith(HOME) for url in urls.values())
