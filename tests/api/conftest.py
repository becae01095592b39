"""What several tests of the command line begin with."""

import pytest
from command_line import Command, table


@pytest.fixture
def run(capsys):
    """The command line in this process."""
    return Command(capsys)


@pytest.fixture
def data(tmp_path):
    """A file with the table of `command_line.table`."""
    table().to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"
