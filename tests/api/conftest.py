"""What several files of tests begin with."""

import pytest
from support.browser import find_browser
from support.command_line import Command, table

from ellzero.conversion import csv_file


@pytest.fixture
def run(capsys):
    """The command line in this process."""
    return Command(capsys)


@pytest.fixture
def data(tmp_path):
    """A file with the table of `command_line.table`."""
    table().to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.fixture(params=["narrow", "wide"])
def both_csv_readers(request, monkeypatch):
    """Both ways to read CSV: the one for narrow tables, and the one for wide tables, taken for any."""
    if request.param == "wide":
        monkeypatch.setattr(csv_file, "WIDE", 0)


@pytest.fixture(scope="module")
def browser():
    """Chromium: ELLZERO_CHROMIUM names its executable, otherwise the first on the path is taken."""
    executable = find_browser()
    with pytest.importorskip("playwright.sync_api").sync_playwright() as tools:
        # Containers have no user namespaces for the sandbox; the only page that is opened is our own.
        browser = tools.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()
