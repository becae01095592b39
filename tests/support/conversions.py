"""A table, what converting its files gives, and what is said where that must not work."""

import os

import pytest

import ellzero as ez
from support.command_line import table
from support.stores import read_store

FRAME = table()
FEATURES = list("abcdef")
MEMORY = (1, 2000, 20_000, "64M")  # one row or column at a time, several, all


def converted(source, **options):
    """What a conversion writes; nothing else is left beside it."""
    folder = source.parent
    before = set(os.listdir(folder))
    out = ez.convert(source, folder / "out.columns", **options)
    assert out == folder / "out.columns"
    assert set(os.listdir(folder)) == before | {"out.columns"}
    found = read_store(out)
    os.rename(out, folder / f"used-{len(before)}")
    return found


def refused(source, **options):
    """The sentence of a conversion that must not work, and must leave nothing behind."""
    before = set(os.listdir(source.parent))
    with pytest.raises(ez.InvalidInputError) as caught:
        ez.convert(source, source.parent / "out.columns", **options)
    assert set(os.listdir(source.parent)) == before
    return str(caught.value).replace(f"{source.parent}/", "")
