"""Tables of fuzzing runs and of soaks: what was counted, what was found, and the commands that give it again."""

import pytest

from fuzz.margins.comparing import BOUND, OBJECTIVE
from fuzz.records import Record
from fuzz.running.results import ResultsFile
from fuzz.soak import Soak
from fuzz.table import main

RUNS = ("problems", "certificates", "files", "margins")


def record(subject, seed, *found, **counts):
    out = Record(subject, seed)
    for kind, severity in found:
        out.find(kind, severity, "words")
    out.counts.update({name.replace("_", " "): count for name, count in counts.items()})
    return out


def written(path, records):
    results = ResultsFile(path)
    for each in records:
        results.add(each)


def test_table(tmp_path):
    strict = {"status precision, gap asked below 1e-6": 1}
    problems = [
        record("solve", 7, status_optimal=1),
        record("solve", 8, ("own certificate refused", "high"), status_precision=1),
    ]
    problems += [record("path", 9), record("solve", 10, ("poor solution", "medium"), **strict)]
    written(tmp_path / "problems", problems)
    forged = record("forgeries", -1, certificates=100, refused=99, valid=1)
    written(tmp_path / "certificates", [forged, record("mutations", 0, ("unsound", "critical"), certificates=51, valid=51)])
    compared = [record("hinge", seed, certificates=1, finite_bounds=3) for seed in (0, 2)] + [record("hinge", 1, refused=1)]
    compared[1].ratios |= {BOUND: 12.5, OBJECTIVE: 50.0}
    written(tmp_path / "margins", compared)
    files = [f"--{name}={tmp_path / name}" for name in RUNS]
    assert main([*files, f"--out={tmp_path / 'fuzz.md'}"]) == 0
    text = (tmp_path / "fuzz.md").read_text()
    assert (
        "$ python -m fuzz --cases 4 --seed 7\n$ python -m fuzz.certificates --mutations 50 --seed -1\n$ python -m fuzz.margins"
        in text
    )
    assert "| all | 4 | 0 | 1 | 1 | 0 | 0 |" in text
    assert "| status of a search | gap of at least 1e-6 (2 searches) | smaller gap (1 searches) |" in text
    assert "| precision | 1 (50.00%) | 1 (100.00%) |" in text
    assert "Refused certificates of our own: 1 (33.33%)." in text
    assert "| forgeries | 100 | 0 | 1 | 0 | 99 | 0 |" in text
    assert "| mutations | 50 | 1 | 51 | 0 | 0 | 1 |" in text
    assert "| critical | mutations | unsound | 1 | 0 |" in text
    assert "`solve` refused 1 problems in a sentence; 0 took too long." in text
    assert "| hinge | 2 | 6 | 0 | 12.5 | 50 | 0 |" in text
    assert "## Files" not in text


def test_table_of_nothing(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([f"--{name}={tmp_path / name}" for name in RUNS])
    assert "run `make fuzz` first" in capsys.readouterr().err


def test_page_of_a_soak():
    soak = Soak(processes=0, threads=1, seed=0, seconds=60.0)
    soak.run()
    soak.memory = [[(7.5 * look, int(1e6 * (200 + look / 2))) for look in range(17)], []]
    soak.memory[0][9] = (67.5, int(900e6))  # for a moment
    soak.counts = [
        {"operations": 3, "operations on solve": 2, "operations on path": 1},
        {"operations": 1, "operations on path": 1},
    ]
    soak.failures, soak.minutes = [[], ["process 1 ended with status -11"]], 2.0
    assert soak.failed()
    text = soak.page()
    assert text.startswith("4 operations in 2.0 minutes, 1 failures.")
    assert "| 0 | 200 | 204 | 208 | 3.11 |" in text
    assert "| path | 2 |\n| solve | 2 |" in text
    assert text.endswith("Failures:\n\n- process 1 ended with status -11")
