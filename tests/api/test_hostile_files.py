"""Hostile files of every format: each is refused in a sentence, in little memory, and nothing in it runs.

`tests/support/hostile_*.py` make them: damaged archives, sizes that wrap around, bombs, pickles, codes and so on.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ellzero

GROUPS = {"hostile_proofs": 285, "hostile_stores": 140, "hostile_tables": 440}  # and how many kinds there are at least
ROOTS = [str(Path(ellzero.__file__).parents[1]), str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]


@pytest.mark.parametrize("group", GROUPS)
def test_hostile_files_get_a_sentence_in_little_memory(group, tmp_path, record_property):
    """A process of its own reads them, so that a crash is seen and memory can be measured."""
    paths = [*ROOTS, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    done = subprocess.run(
        [sys.executable, "-m", "support.hostile_reading", group, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        timeout=250,
        check=False,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    read = [line for line in told if "name" in line]
    last = told[-1].get("begins", "") if told else ""
    assert done.returncode == 0, f"the process ended with {done.returncode} at {last!r}: {done.stderr[-1000:]}"
    wrong = {line["name"]: (line["wrong"], line["text"], line["seconds"], line["memory"]) for line in read if line["wrong"]}
    assert not wrong
    assert len(read) >= GROUPS[group]
    most = max(read, key=lambda line: line["memory"])
    record_property("figure", f"{len(read)} hostile files ({group}): at most {most['memory'] / 1e6:.0f} MB, for {most['name']}")
