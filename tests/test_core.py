"""The core's rooms: a folder of C++ includes only what this table allows."""

import re
from pathlib import Path

import pytest

CPP = Path(__file__).parents[1] / "cpp"
MAY_INCLUDE = {
    "data": [],
    "problem": ["data"],
    "support": ["data", "problem"],
    "swaps": ["data", "problem", "support"],
    "path": ["data", "problem", "support", "swaps"],
    "relaxation": ["data", "problem"],
    "exact": ["data", "problem", "relaxation"],
    "scores": ["data", "problem"],
}


def rooms_of(file):
    """Rooms of the headers that a file includes by a name in quotes, with the line of each."""
    for line in file.read_text().splitlines():
        if found := re.match(r'\s*#\s*include\s*"([^"]*)"', line):
            named = re.fullmatch(r"ellzero/(\w+)/\w+\.hpp", found[1])
            assert named, f"{file}: {line} (name a header as ellzero/<room>/<name>.hpp)"
            assert (CPP / "include" / found[1]).exists(), f"{file}: {line} (no such header)"
            yield named[1], line


def test_every_file_of_the_core_is_in_a_room():
    for folder in (CPP / "include" / "ellzero", CPP / "src"):
        files = [file for file in folder.rglob("*") if file.is_file()]
        assert len(files) > 25
        for file in files:
            room, *rest = file.relative_to(folder).parts
            assert room in MAY_INCLUDE, f"{file}: give the new room a line in this file's table"
            assert len(rest) == 1, f"{file}: rooms have no folders of their own"


@pytest.mark.parametrize("room", MAY_INCLUDE)
def test_a_room_includes_only_rooms_before_it(room):
    files = [*(CPP / "include" / "ellzero" / room).glob("*.hpp"), *(CPP / "src" / room).glob("*.cpp")]
    assert len(files) > 3
    included = [(file, other, line) for file in files for other, line in rooms_of(file)]
    assert included
    for file, other, line in included:
        assert other == room or other in MAY_INCLUDE[room], f"{file}: {line} ({room} may include {MAY_INCLUDE[room]})"


def test_rooms_have_an_order():
    known = set()
    for room, others in MAY_INCLUDE.items():
        assert known.issuperset(others), f"{room} includes a room that comes after it"
        known.add(room)
