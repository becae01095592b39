"""JSON files of results: reading one runs no code, and checks every entry by its name and type."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.files import replacing
from ellzero.base.quoting import json_text, one_line, quoted
from ellzero.base.reading import Malformed, read_json
from ellzero.base.validation import as_path

T = TypeVar("T")


def json_of(content: dict[str, Any]) -> str:
    """Return the text of a file: one entry a line."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


def write_json_file(path: str | os.PathLike[str], text: str) -> None:
    """Write the text of a file, which appears as a whole or not at all."""
    with replacing(as_path("path", path)) as stream:
        stream.write(json_text(text).encode() + b"\n")


def read_json_file(path: str | os.PathLike[str], kind: str, form: str, known: int, parse: Callable[[Entries], T]) -> T:
    """Read a file of a `kind`, such as "a model file", and return what `parse` makes of its entries.

    Its entry `format` must be `form`, and its `version` the known one.
    """
    path = as_path("path", path)
    try:
        content = read_json(path)
        if not isinstance(content, dict) or content.get("format") != form:
            raise Malformed(f"its format is not {form!r}")
    except Malformed as error:
        raise InvalidInputError(f"{path} is not {kind}: {error}.") from None
    version = content.get("version")
    if type(version) is not int or version != known:
        raise InvalidInputError(f"{path} has version {quoted(version)}; this ellzero reads version {known}.")
    try:
        return parse(Entries(content, "the file"))
    except Malformed as error:
        raise InvalidInputError(f"{path} is malformed: {error}.") from None


class Entries:
    """The entries of a JSON object, taken by name and type; what is not as it must be raises `Malformed` with a sentence."""

    def __init__(self, content: Any, name: str) -> None:
        if not isinstance(content, dict):
            raise Malformed(f"{name} must hold objects")
        self.content: dict[str, Any] = content

    def has(self, name: str, *, optional: bool = False) -> bool:
        """Return whether an entry is not null; only an optional one may be missing."""
        if name not in self.content and not optional:
            raise Malformed(f"{name} is missing")
        return self.content.get(name) is not None

    def take(self, name: str, *types: type) -> Any:
        """Return an entry of one of these types."""
        value = self.content[name] if self.has(name) else None
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise Malformed(f"{name} has the wrong type")
        return value

    def part(self, name: str) -> Entries:
        """Return the entries of an object."""
        return Entries(self.take(name, dict), name)

    def parts(self, name: str) -> list[Entries]:
        """Return the entries of each object of a list."""
        return [Entries(each, name) for each in self.take(name, list)]

    def number(self, name: str) -> float:
        """Return a finite number."""
        return finite(self.take(name, int, float), name)

    def numbers(self, name: str, count: int) -> NDArray[np.float64]:
        """Return that many finite numbers."""
        return numbers_of(self.take(name, list), name, count)

    def table(self, name: str, rows: int, columns: int) -> NDArray[np.float64]:
        """Return a list of that many rows of finite numbers."""
        found = self.take(name, list)
        if len(found) != rows:
            raise Malformed(f"{name} must have {rows} rows")
        return np.array([numbers_of(row, name, columns) for row in found]).reshape(rows, columns)

    def texts(self, name: str, count: int) -> list[str]:
        """Return that many strings."""
        found: list[str] = self.take(name, list)
        if len(found) != count or not all(isinstance(each, str) for each in found):
            raise Malformed(f"{name} must have {count} strings")
        return found

    def indices(self, name: str, below: int) -> list[int]:
        """Return different indices below a number."""
        found: list[int] = self.take(name, list)
        if not all(type(j) is int and 0 <= j < below for j in found) or len(set(found)) < len(found):
            raise Malformed(f"{name} must be different indices below {below}")
        return found


def numbers_of(values: Any, name: str, count: int) -> NDArray[np.float64]:
    """Return that many finite numbers of a list."""
    if not isinstance(values, list) or len(values) != count:
        raise Malformed(f"{name} must have {count} numbers")
    return np.array([finite(each, name) for each in values], dtype=np.float64)


def finite(value: Any, name: str) -> float:
    """Return a number as a float; raise `Malformed` unless it is finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= sys.float_info.max:
        raise Malformed(f"{name} must hold finite numbers")
    return float(value)


def valid(check: Callable[..., Any], *arguments: Any) -> Any:
    """Call a check of arguments; an invalid value raises `Malformed`, since it is the file's fault, not the caller's."""
    try:
        return check(*arguments)
    except (InvalidInputError, OverflowError) as error:
        raise Malformed(one_line(error)) from None
