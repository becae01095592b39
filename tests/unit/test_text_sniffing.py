"""Separators and decimal marks that the first lines of a table suggest."""

import io
from contextlib import ExitStack

import pandas as pd
import pytest

from ellzero.tables.source import DataFile
from ellzero.tables.streams import Sought
from ellzero.tables.text import TextTable, likely_decimal, likely_separator


@pytest.mark.parametrize(
    ("text", "separator", "decimal"),
    [
        ("a,b\n1.5,2\n3,x\n", ",", "."),
        ("a;b\n1,5;2\n3;x\n", ";", ","),
        ("a;b\n1,5;2.5\n3;x\n", ";", "."),  # both marks: nobody knows
        ("a;b\n1,500;2\n3,250;x\n", ";", "."),  # thousands or thousandths: nobody knows
        ("a\tb\n1,25\t2\n", "\t", ","),
        ("a|b|c\n1|2|3\n", "|", "."),
        ('a,b\n"1,5",2\n"2,25",3\n', ",", ","),
        ('a;"b, in cm";c\n1;2;3\n4;5;6\n', ";", "."),
        ("a b  c\n1 2  3\n4 5 6\n", "space", "."),
        ("name of the town\nRome\nOslo\n", ",", "."),
        ("a,b\n1,x; y\n2,z\n", ",", "."),
        ("a,b\n1\n1,2,3\n", ",", "."),  # ragged: as the header has it
        ("a\n1\n", ",", "."),
        ("", ",", "."),
    ],
)
def test_first_lines(text, separator, decimal):
    assert likely_separator(text.splitlines()) == separator
    assert likely_decimal(text.splitlines(), r"\s+" if separator == "space" else separator) == decimal


def read(content, **how):
    table = TextTable(DataFile(source="data.csv", format="csv", **how), io.BytesIO(content))
    with ExitStack() as stack:
        (frame,) = table.batches(None, (), stack)
    return frame, table


def test_what_the_user_says_holds():
    content = b"a;b,c\n1,5;2\n"
    assert read(content)[0].columns.tolist() == ["a", "b,c"]
    assert read(content, separator=",")[0].columns.tolist() == ["a;b", "c"]
    assert read(content, decimal=".")[0].iloc[0, 0] == "1,5"


def test_a_header_longer_than_what_is_sniffed():
    names = [f"a long name of column {j}" for j in range(5000)]
    numbers = ",".join(map(str, range(5000)))
    for mark in ",;\t":
        frame, table = read((mark.join(names) + "\n" + numbers.replace(",", mark) + "\n").encode())
        assert frame.columns.tolist() == names
        assert table.options["sep"] == mark


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_words_that_no_field_is(size):
    """Words are found wherever a stream is cut, but not as parts of other words."""
    text = b'a,b,c\n-9.0,lost at sea, ?\n-99,"n.d.",gone\n'
    stream = Sought(io.BytesIO(text), ("-9", "-99", "9", "?", "n.d.", "lost", "sea", "gone", "lost at sea"), "utf-8")
    while stream.read(size):
        pass
    assert [*stream.absent] == ["9", "lost", "sea"]


def test_quoted_decimal_commas():
    frame, _ = read(b'a,b\n"1,5","0,25"\n"2,5",3\n')
    pd.testing.assert_frame_equal(frame, pd.DataFrame({"a": [1.5, 2.5], "b": [0.25, 3.0]}))
