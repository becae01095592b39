"""Tables of results as text and, for notebooks, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ellzero.base.quoting import safe_line

MOST_ROWS = 60  # of a longer table, the first and the last are shown
LEFT, RIGHT = "text-align:left", "text-align:right"


def some_rows(count: int, most: int = MOST_ROWS) -> list[int | None]:
    """Return the numbers of the rows to show: all, or the first and the last ones with None for those between."""
    if count <= most:
        return list(range(count))
    return [*range(most - most // 3), None, *range(count - most // 3, count)]


def text_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines, the first column aligned to the left, all others to the right.

    >>> text_table([["name", "value"], ["a", "1"]])
    ['name  value', 'a         1']
    """
    first, *widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rests = ["".join(f"  {text:>{width}}" for text, width in zip(row[1:], widths, strict=True)) for row in rows]
    return [f"{row[0]:<{first}}{rest}".rstrip() for row, rest in zip(rows, rests, strict=True)]


def html_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """Return a table with a line above it and notes below; nothing of the text is taken for HTML.

    The first column is aligned to the left, all others, which hold numbers, to the right.

    >>> html_table("a < b", ["name", "value"], [["x", "1"]]).startswith("<div><p>a &lt; b</p><table>")
    True
    """
    lines = []
    for place in some_rows(len(rows)):
        cells = ["..."] * len(header) if place is None else rows[place]
        lines.append("".join(cell("td", text, j) for j, text in enumerate(cells)))
    head = "".join(cell("th", text, j) for j, text in enumerate(header))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if header else ""
    return f"<div>{paragraph(title)}{table}{''.join(map(paragraph, notes))}</div>"


def cell(tag: str, text: str, column: int) -> str:
    """Return a cell of a table."""
    return f'<{tag} style="{LEFT if column == 0 else RIGHT}">{escape(safe_line(text))}</{tag}>'


def paragraph(text: str) -> str:
    """Return a line of text."""
    return f"<p>{escape(safe_line(text))}</p>"
