"""`python -m experiments`: quick versions of the synthetic experiments, and runs that begin, end and are resumed."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments import EXPERIMENTS
from experiments.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
OURS = ["L0L2 (CD w. Local Search)", "L0L1 (CD w. Local Search)", "L0L2 (CD)", "L0L1 (CD)"]
THEIRS = ["GraSP", "NHTP"]  # these need nothing to be installed


@pytest.fixture
def run(capsys):
    """Run the program in this process; return its exit code, standard output and standard error."""

    def run(*argv):
        capsys.readouterr()
        try:
            code = main([str(part) for part in argv])
        except SystemExit as end:  # after the parser's own sentence on a mistake
            code = end.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def done(run):
    """Run the program, which must work, and return its standard output."""

    def done(*argv):
        code, out, err = run(*argv)
        assert code == 0, err
        return out

    return done


@pytest.fixture(autouse=True)
def no_skglm(monkeypatch):
    """Leave out L1 and MCP if there is no R: every worker would compile skglm for half a minute (or fail, uncompiled)."""
    monkeypatch.setattr("experiments.peers.r_or_skglm.has_skglm", lambda: False)


def test_list(done):
    assert [line.split()[0] for line in done("--list").splitlines()] == list(EXPERIMENTS)


@pytest.mark.parametrize(("name", "repetitions"), [("fig1", 2), ("fig2", 1)])
def test_sample_sizes(done, tmp_path, name, repetitions):
    text = done(name, "--quick", "--out", tmp_path, "--reps", repetitions)
    records = [json.loads(line) for line in (tmp_path / f"{name}-quick.jsonl").read_text().splitlines()]
    assert {record["method"] for record in records} >= {*OURS, *THEIRS}
    assert {(record["n"], record["repetition"]) for record in records} == {
        (n, r) for n in (100, 300) for r in range(repetitions)
    }
    for record in records:
        assert record["true_positives"] + record["false_positives"] == record["support_size"]
        assert 0.0 <= record["f1"] <= 1.0
        assert 0.4 < record["auc"] <= 1.0
    assert (tmp_path / f"{name}-quick.png").read_bytes().startswith(b"\x89PNG")
    for words in (
        "recovery F1 score",
        "AUC on new rows",
        "support size",
        "false positives",
        f"{repetitions} repetition",
        *OURS,
        *THEIRS,
    ):
        assert words in text
    # Models must learn something: with 300 rows those of local search predict better than with 100.
    auc = {n: [r["auc"] for r in records if r["n"] == n and r["method"] in OURS[:2]] for n in (100, 300)}
    assert sum(auc[300]) > sum(auc[100])


def test_large_instances(done, tmp_path):
    text = done("table2", "--quick", "--out", tmp_path, "--reps", 1)
    records = [json.loads(line) for line in (tmp_path / "table2-quick.jsonl").read_text().splitlines()]
    assert {record["method"] for record in records} >= {*OURS, *THEIRS, "L0L2/squared hinge (CD)"}
    for record in records:
        if record["method"] in OURS and record["setting"] == 1:
            assert (record["errors"]["false_positives"], record["errors"]["support_size"]) == (0, 8)
    for words in ("**Setting 1**: n = 300, p = 2,000", "**Setting 2**", "617.2 ± 8.3", "92.5 ± 0.6"):
        assert words in text


def test_results_do_not_depend_on_processes(done, tmp_path):
    def records(folder, jobs):
        done("fig1", "--quick", "--reps", 1, "--only", "L0L2_CD_", "--jobs", jobs, "--out", folder)
        lines = [json.loads(line) for line in (folder / "fig1-quick.jsonl").read_text().splitlines()]
        return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]

    one, two = records(tmp_path / "one", 1), records(tmp_path / "two", 2)
    assert len(one) == 4
    assert one == two


def program(argv):
    """The program, listening to Ctrl-C: a background job, as tests may be, starts with it ignored."""
    handled = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{handled}; from experiments.__main__ import main; sys.exit(main())", *argv]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def test_a_killed_run_goes_on(done, tmp_path):
    argv = ["fig1", "--quick", "--only", "L0L2_CD_", "--out", str(tmp_path)]
    folder = tmp_path / "fig1-quick"
    with program([*argv, "--jobs", "1"]) as child:
        limit = time.monotonic() + 120.0
        while len(list(folder.glob("*.json"))) < 2 and time.monotonic() < limit:
            time.sleep(0.02)
        child.kill()
    kept = {file: file.stat().st_mtime_ns for file in folder.glob("*.json")}
    assert len(kept) >= 2
    assert "12 of 36 tasks" in done(*argv)
    assert {file: file.stat().st_mtime_ns for file in kept} == kept


def test_interrupted_runs_end(tmp_path):
    with program(["fig1", "--only", "L0L2_CD_w.", "--jobs", "1", "--out", str(tmp_path)]) as child:
        limit = time.monotonic() + 120.0
        while not list(tmp_path.rglob("*.json")) and time.monotonic() < limit:
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=250)
    assert child.returncode == 130
    assert err.endswith("interrupted\n")


def test_bad_input(run, tmp_path):
    (tmp_path / "file").write_text("")
    mistakes = {
        (): "name a table or figure",
        ("fig9",): "invalid choice: 'fig9'",
        ("fig1", "--reps", 0): "--reps must be at least 1",
        ("fig1", "--only", "zzz", "--out", tmp_path): "only must be part of the description of a task",
        ("fig1", "--out", tmp_path / "file"): "--out must name a folder",
    }
    for argv, said in mistakes.items():
        code, out, err = run(*argv)
        assert (code, out) == (2, "")
        assert said in err


def test_data_that_cannot_be_had_is_told_once(run, tmp_path, monkeypatch):
    monkeypatch.setenv("ELLZERO_DATA", str(tmp_path / "nothing"))
    monkeypatch.setattr("ellzero.datasets.uci.HOME", "http://127.0.0.1:9")  # where nobody answers
    monkeypatch.setattr("ellzero.datasets.uci.RETRIES", 0)
    options = ["--quick", "--reps", 1, "--jobs", 1, "--only", "data=arcene", "--out", tmp_path, "--quiet"]
    code, _, err = run("fig5", *options)
    assert code == 1
    first, *rest = err.splitlines()
    assert first.startswith("failed: data=arcene_split=official")
    assert "and 3 other tasks: DatasetError: http://127.0.0.1:9/" in first
    assert len(rest) == 1


def test_a_report_on_nothing(run, tmp_path):
    code, out, err = run("fig1", "--no-run", "--out", tmp_path)
    assert code == 0
    assert "No task has a result yet." in out
    assert "tasks of fig1 have no result yet" in err
