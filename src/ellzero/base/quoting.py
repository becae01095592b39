r"""Text of files and users, made fit for terminals, pages, pictures and spreadsheets.

A name, a label or a path can hold anything: codes that move a terminal's cursor or change its title, marks that reverse the
order of the text after them, formulas that a spreadsheet would run, 30 megabytes of one letter. All of it is shown through this
module. Codes are written as Python writes them (``\x1b``), and of a long text the middle is left out.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Sequence
from typing import Any

# Control characters (C0, C1), marks of the direction of text, line and paragraph separators, other marks that are never
# visible, and halves of characters, which no encoding can write. Joiners, which words of some languages need, are left alone.
CODES = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
ANY_CODE = re.compile(f"[{CODES}]")
CODE_IN_LINES = re.compile(rf"(?!\n)[{CODES}]")
CODE_IN_CELL = re.compile(rf"(?!\r?\n|\t)[{CODES}]")
LINE_BREAKS = re.compile(r"\s*[\n\r]\s*")
FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
LONGEST_NAME, LONGEST_PATH, LONGEST_MESSAGE = 60, 300, 1000
LONGEST_QUOTATION = 300  # of another library's message that a message of ours repeats
OMITTED = " ... "
MOST_NAMED = 20  # columns of one kind; others are counted

SHORT = reprlib.Repr()
SHORT.maxstring = SHORT.maxother = SHORT.maxlong = LONGEST_NAME


def shown(value: Any, longest: int = LONGEST_NAME) -> str:
    r"""Return a name, a label or another value as part of a line of text.

    >>> shown("\x1b[31mred\nline"), shown(""), shown("a" * 100, longest=15)
    ('\\x1b[31mred\\nline', "''", 'aaaaa ... aaaaa')
    """
    text = shortened(str(value), longest)
    return shortened(ANY_CODE.sub(escaped, text), longest) or "''"


def quoted(value: object) -> str:
    r"""Return a value as Python writes it: its beginning, with escapes for all that is not printable.

    >>> quoted("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'..."
    >>> print(quoted(chr(27) + "[31mred"))
    '\x1b[31mred'
    >>> quoted([1, 2, 3])
    '[1, 2, 3]'
    """
    if isinstance(value, str):
        return f"{str(value[:LONGEST_NAME])!r}{'...' if len(value) > LONGEST_NAME else ''}"
    return SHORT.repr(value)


def listed_columns(labels: Sequence[str]) -> str:
    """Return columns, whose labels are quoted names or numbers, in words.

    >>> listed_columns(["'a'"]), listed_columns(["'a'", "'b'", "'c'"])
    ("column 'a'", "columns 'a', 'b' and 'c'")
    """
    if len(labels) == 1:
        return f"column {labels[0]}"
    first, rest = labels[:MOST_NAMED], len(labels) - MOST_NAMED
    return f"columns {', '.join(first)} and {rest} more" if rest > 0 else f"columns {', '.join(first[:-1])} and {first[-1]}"


def safe_line(text: str) -> str:
    r"""Return a message as one line: breaks between lines become blanks.

    >>> safe_line("no column\n'\x1b[31m'")
    "no column '\\x1b[31m'"
    """
    text = LINE_BREAKS.sub(" ", shortened(text, LONGEST_MESSAGE))
    return shortened(ANY_CODE.sub(escaped, text), LONGEST_MESSAGE)


def one_line(message: object) -> str:
    """Return another library's message as one short line, without the full stop at its end."""
    text = " ".join(str(message)[: 4 * LONGEST_QUOTATION].split())
    return shortened(ANY_CODE.sub(escaped, text), LONGEST_QUOTATION).rstrip(".")


def safe_lines(text: str) -> str:
    """Return lines of text, however long, without codes."""
    return CODE_IN_LINES.sub(escaped, text)


def json_text(text: str) -> str:
    r"""Return JSON without codes: inside its strings, where alone they can be, JSON has a way to write them.

    >>> json_text('"\x9b"')
    '"\\u009b"'
    """
    return CODE_IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def spreadsheet_cell(value: Any) -> Any:
    """Return a value for a CSV file: text that a spreadsheet would take for a formula gets an apostrophe before it.

    Numbers are unchanged, also if they are text. Text that begins with apostrophes and then like a formula gets one more,
    so that whoever takes one away has the text again.

    >>> [spreadsheet_cell(value) for value in ("=1+1", "-1.5", "-x", -2.0, "'=1", "'s")]
    ["'=1+1", '-1.5', "'-x", -2.0, "''=1", "'s"]
    """
    if not isinstance(value, str):
        return value
    text = CODE_IN_CELL.sub(escaped, value)
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def in_bytes(size: float) -> str:
    """Return a number of bytes in the unit that fits: "1.5 MB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.3g} {unit}" if size < 1000 else f"{size:,.0f} {unit}"


def shortened(text: str, longest: int) -> str:
    """Return the beginning and the end of a text that is longer than `longest`."""
    if len(text) <= longest:
        return text
    kept = max(longest - len(OMITTED), 2)
    return text[: kept - kept // 2] + OMITTED + text[len(text) - kept // 2 :]


def escaped(match: re.Match[str]) -> str:
    """Return a character as Python writes it in a string."""
    return repr(match[0])[1:-1]
