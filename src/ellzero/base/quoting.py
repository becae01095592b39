"""Quotations of foreign text in messages: short, and without characters that a terminal would obey."""

from __future__ import annotations

import reprlib

__all__ = ["in_words", "one_line", "quoted"]

MOST = 60
"""The most characters of a text that a message quotes."""
LONGEST_LINE = 300
"""The most characters of another library's message that a message of ours repeats."""

SHORT = reprlib.Repr()
SHORT.maxstring = SHORT.maxother = SHORT.maxlong = MOST


def quoted(value: object) -> str:
    r"""Return a value as Python writes it: its beginning, with escapes in place of all that is not printable.

    >>> quoted("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'..."
    >>> print(quoted(chr(27) + "[31mred"))
    '\x1b[31mred'
    >>> quoted([1, 2, 3])
    '[1, 2, 3]'
    """
    if isinstance(value, str):
        return f"{str(value[:MOST])!r}{'...' if len(value) > MOST else ''}"
    return SHORT.repr(value)


def one_line(message: object) -> str:
    """Return another library's message as one short printable line without a full stop at its end."""
    text = " ".join(str(message)[: 4 * LONGEST_LINE].split())
    text = "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text)
    return f"{text[:LONGEST_LINE]}..." if len(text) > LONGEST_LINE else text.rstrip(".")


def in_words(size: float) -> str:
    """Return a number of bytes in the unit that fits: "1.5 MB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.3g} {unit}" if size < 1000 else f"{size:,.0f} {unit}"
