"""A fixed part of the fuzzer's forged and mutated certificates and of its hostile files, in this process.

`python -m fuzz.certificates --seed SEED` and `python -m fuzz.files --only FORMAT --seed SEED` repeat a case.
"""

import math

import pytest
from support.fuzzing import FIRST, SHARE, findings

from fuzz.certificates.forgeries import GROUPS
from fuzz.certificates.running import run as judge_certificates
from fuzz.files.formats import FORMATS
from fuzz.files.running import run as judge_files
from fuzz.running.pool import Task


@pytest.fixture(autouse=True)
def repeat_proofs_exactly():
    """Leave exact arithmetic to `fuzz.margins`: here are too many certificates for it."""


@pytest.mark.parametrize("seed", range(math.ceil(6 * SHARE)))
def test_mutations_of_certificates_are_sound(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # findings are written down there
    assert not findings(judge_certificates(Task("", FIRST + seed)))


@pytest.mark.parametrize("group", range(0, len(GROUPS), math.ceil(5 / SHARE)))
def test_forgeries_are_sound(group, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not findings(judge_certificates(Task("", -1 - group)))


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_files_get_a_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not findings(judge_files(Task(name, FIRST)))
