"""A fixed part of the fuzzer's forged and mutated certificates and of its hostile files, in this process.

`python -m fuzz.certificates --seed SEED` and `python -m fuzz.files --only FORMAT --seed SEED` repeat a case.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.fuzzing import FIRST, SHARE, findings

import ellzero as ez
from fuzz.certificates.forgeries import GROUPS
from fuzz.certificates.judging import Court
from fuzz.certificates.running import run as judge_certificates
from fuzz.certificates.sealed import Draft
from fuzz.files.formats import FORMATS
from fuzz.files.running import run as judge_files
from fuzz.problems.drawing import draw_problem
from fuzz.records import Record
from fuzz.running.pool import Task


@pytest.mark.parametrize("seed", range(FIRST, FIRST + math.ceil(6 * SHARE)))
def test_mutations_of_certificates_are_sound(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # findings are written down there
    assert not findings(judge_certificates(Task("", seed)))


def test_a_claim_is_judged_as_the_changed_file_states_it(tmp_path, monkeypatch):
    """One of the mutations claims less, of data on which the true certificate's claim would be false."""
    monkeypatch.chdir(tmp_path)
    assert not findings(judge_certificates(Task("", 998)))


def test_a_verifier_that_believes_too_much_is_found(monkeypatch):
    """A court that finds nothing would be a defect."""
    problem = draw_problem(np.random.default_rng(1), largest_p=4)
    certificate = ez.solve(problem.X, problem.y, **problem.settings(), **problem.form()).certificate
    draft = Draft(dict(certificate.header), dict(certificate.arrays), problem.X, problem.y)
    draft.header["lower_bound"] *= 1.001
    report = ez.verify(certificate, problem.X, problem.y)
    believed = replace(report, lower_bound=report.lower_bound * 1.001)
    monkeypatch.setattr(ez, "verify", lambda *arguments, **settings: believed)
    record = Record("mutations", 1)
    Court(record).judge(draft, "too high")
    assert [finding.kind for finding in record.findings] == ["unsound", "unsound"]  # as proved, and as claimed


@pytest.mark.parametrize("group", range(0, len(GROUPS), math.ceil(9 / SHARE)))
def test_forgeries_are_sound(group, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not findings(judge_certificates(Task("", -1 - group)))


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_files_get_a_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not findings(judge_files(Task(name, FIRST)))
