"""Errors while pandas reads a table of text."""

import io
import signal

import pandas as pd
import pytest

from ellzero.tables.text import explained


class Failing(io.StringIO):
    """A file that cannot be read to its end."""

    def __init__(self, fail):
        super().__init__("a,b\n" + "1,2\n" * 1000)
        self.fail = fail

    def read(self, size=-1):
        if self.tell():
            self.fail()
        return super().read(min(size, 100))


def test_ctrl_c_stays_ctrl_c():
    """Pandas turns Ctrl-C into an error about the table: its parser loses exceptions without a value."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), explained("data.csv", "utf-8"):
            pd.read_csv(Failing(lambda: signal.raise_signal(signal.SIGINT)))
    finally:
        signal.signal(signal.SIGINT, before)


def test_errors_of_the_disk_arrive_as_they_are():
    def fail():
        raise OSError(5, "the disk is broken")

    with pytest.raises(OSError, match="the disk is broken"), explained("data.csv", "utf-8"):
        pd.read_csv(Failing(fail))
