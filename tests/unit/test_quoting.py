"""Text that is shown: no codes for terminals, no formulas for spreadsheets, no megabytes."""

import csv
import io
import json
import sys
import unicodedata

import pytest

from ellzero.base.errors import ClusterError, DatasetError, EllzeroError, InvalidInputError
from ellzero.base.quoting import LONGEST_MESSAGE, json_text, safe_line, safe_lines, shown, spreadsheet_cell

EVERY_CODE = [chr(code) for code in [*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000)]]
MARKS = [*"\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"]


@pytest.mark.parametrize("show", [shown, safe_line, safe_lines])
def test_no_code_is_shown(show):
    for code in [*EVERY_CODE, *MARKS]:
        out = show(f"a{code}b")
        allowed = out.replace("\n", "") if show is safe_lines else out
        assert allowed.isprintable(), repr(code)
        assert out.startswith("a")
        assert out.endswith("b")


def test_all_marks_of_direction_are_codes():
    marks = [chr(c) for c in range(sys.maxunicode + 1) if unicodedata.bidirectional(chr(c)) in BIDIRECTIONAL]
    assert len(marks) == 9
    assert all(shown(mark) != mark for mark in marks)


BIDIRECTIONAL = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


@pytest.mark.parametrize("text", ["Größe", "می\u200cخ", "👩\u200d👧", "価格", "a\u00a0b", r"C:\data\x1b", "it's", '"'])
def test_words_are_left_alone(text):
    assert shown(text) == safe_line(text) == safe_lines(text) == spreadsheet_cell(text) == text


def test_nothing_and_much():
    assert shown("") == "''"
    assert shown(None) == "None"
    assert shown(b"\x1b") == r"b'\x1b'"
    long = shown("<" + "\x1b" * 30_000_000 + ">", 40)
    assert long.startswith(r"<\x1b")
    assert long.endswith(r"\x1b>")
    assert " ... " in long
    assert len(long) == 40
    assert len(safe_line("x" * 30_000_000)) == LONGEST_MESSAGE


@pytest.mark.parametrize("kind", [EllzeroError, InvalidInputError, DatasetError, ClusterError])
def test_errors_quote_safely(kind):
    error = kind(f"column \x1b[31m{'a' * 2000} is\nnot there.")
    assert str(error).isprintable()
    assert str(error).startswith(r"column \x1b[31ma")
    assert str(error).endswith("a is not there.")
    assert len(str(error)) <= LONGEST_MESSAGE


def test_json_keeps_every_character():
    content = {"".join(MARKS): [code for code in EVERY_CODE if code != "\n"], "\n": '\t\\ "é\u2028'}
    text = json_text(json.dumps(content, indent=1, ensure_ascii=False))
    assert text.replace("\n", "").isprintable()
    assert json.loads(text) == content


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd|' /C calc'!A0", "-x", "--", "@SUM(A1)", "\tx", "\r\nx", "\n=1", "'=1", "''-x", "-1-1", "-1e", "+."]
)
def test_formulas_get_an_apostrophe(text):
    cell = spreadsheet_cell(text)
    assert cell == f"'{text}"
    assert spreadsheet_cell(cell) == f"'{cell}"  # so that different texts stay different


@pytest.mark.parametrize(
    "value", [-1, -0.5, float("-inf"), True, None, "-1", "+1.5", "-2,5", "-1e-05", "-.5", "'s", "a=b", "1-2", ""]
)
def test_numbers_and_words_are_cells_as_they_are(value):
    assert spreadsheet_cell(value) is value or spreadsheet_cell(value) == value


def test_lines_of_a_cell_stay_and_codes_do_not():
    assert spreadsheet_cell("one\r\ntwo\nthree\tfour") == "one\r\ntwo\nthree\tfour"
    assert spreadsheet_cell("a\rb\x1b[31m\u202e") == r"a\rb\x1b[31m\u202e"
    file = io.StringIO(newline="")
    csv.writer(file).writerow([spreadsheet_cell(text) for text in ("=1", 'a"b', "x\ny")])
    assert next(csv.reader(io.StringIO(file.getvalue(), newline=""))) == ["'=1", 'a"b', "x\ny"]
