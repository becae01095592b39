"""Figure 4 and table 3: their quick versions run, and their reports say what the numbers say."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from ellzero.exact.solve import solve
from experiments import certification, run_times
from experiments.certification import TABLE3, draw_problem, lambda_0_for_true_size
from experiments.experiment import Scale
from experiments.measurement.markdown import range_text, three_digits
from experiments.measurement.timing import best_time, call_in_process, run_program
from experiments.run_times import FIG4, REFERENCE, TOOLS
from experiments.running import reproduce

pytest.importorskip("matplotlib")
QUICK = Scale(quick=True)


def rows(text):
    """Return the tables' lines as lists of entries."""
    return [[entry.strip() for entry in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]


# Work in processes of their own.


def test_programs_end_well_late_or_badly():
    assert (
        run_program([sys.executable, "-c", "import os; print(os.environ['OMP_NUM_THREADS'], input())"], 30.0, "hello")
        == "1 hello\n"
    )
    assert run_program([sys.executable, "-c", "import time; time.sleep(60)"], 0.2) is None
    with pytest.raises(RuntimeError, match=r"exit code 1: .*no luck"):
        run_program([sys.executable, "-c", "raise SystemExit('no luck')"], 30.0)
    with pytest.raises(RuntimeError, match="signal 9: nothing was said"):
        run_program([sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"], 30.0)


def test_functions_are_called_in_a_process_of_their_own():
    task = {"p": 60, "repetition": 0, "method": "ellzero 1", "quick": True}
    record = call_in_process("experiments.run_times:time_here", task, 60.0)
    assert record is not None
    assert record["solutions"] == run_times.QUICK.points
    with pytest.raises(RuntimeError, match="KeyError"):
        call_in_process("experiments.run_times:time_here", {}, 60.0)
    assert call_in_process("experiments.run_times:time_here", task, 0.01) is None


def test_the_best_of_a_few_runs():
    calls = []
    assert best_time(lambda: calls.append(1) or len(calls), 3, 60.0)[::2] == (3, 3)
    assert best_time(lambda: "once", 3, 0.0)[::2] == ("once", 1)


def test_numbers_in_words():
    assert [three_digits(x) for x in (0.01234, 1.0, 123.4, 999.6, 12345.6)] == ["0.0123", "1", "123", "1,000", "12,346"]
    assert range_text([2.0, 1.0, 3.0]) == "1 to 3"
    assert range_text([2.0001, 2.0]) == "2"


# Figure 4.


@pytest.fixture(scope="module")
def quick_run_times(tmp_path_factory):
    return reproduce("fig4", tmp_path_factory.mktemp("fig4"), QUICK)


def test_quick_run_times(quick_run_times):
    outcome = quick_run_times
    assert outcome.failures == {}
    assert outcome.complete
    tools = FIG4.tools(quick=True)
    assert {"ellzero 1", "ellzero 2", "NHTP (our code)"} <= set(tools)
    for record in outcome.records:
        assert record["time"] is None or 0.0 < record["time"] < record["seconds"]
        if record["method"].startswith("ellzero"):
            assert record["solutions"] == run_times.QUICK.points
    seconds = next(row for row in rows(outcome.text) if row[0] == "1,000")
    assert len(seconds) == 1 + len(tools)
    assert "A quick run" in outcome.text
    assert (outcome.page.parent / "fig4-quick.png").stat().st_size > 10_000


def test_all_tools_see_the_same_data():
    first, second = (run_times.draw_problem({"p": 40, "repetition": 1, "method": tool}) for tool in ("ellzero 1", REFERENCE))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    other = run_times.draw_problem({"p": 40, "repetition": 2, "method": REFERENCE})
    assert not np.array_equal(first[0], other[0])


def test_the_full_figure_is_the_papers():
    tasks = FIG4.tasks(Scale())
    assert {task["p"] for task in tasks} == {1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000}
    assert run_times.FULL.points == 100
    assert run_times.FULL.ratio == 1e-3
    assert {task["method"] for task in tasks} <= set(TOOLS)
    assert len(FIG4.tasks(Scale(repetitions=3))) == 3 * len(tasks)


def measured(p, method, seconds, repetition=0):
    return {
        "p": p,
        "method": method,
        "repetition": repetition,
        "time": seconds,
        "limit": 300.0,
        "solutions": 100,
        "largest": 50,
    }


def test_report_of_run_times(tmp_path):
    records = [
        measured(1_000, "ellzero 1", 0.5),
        measured(1_000, REFERENCE, 1.0),
        measured(100_000, "ellzero 1", 2.0),
        measured(100_000, REFERENCE, 24.0),
        measured(100_000, "L0Learn 1", 80.0),
        measured(100_000, "L0Learn 2", None),
        measured(100_000, "ellzero 2", 30.0),
    ]
    text = FIG4.report(records, tmp_path, Scale())
    assert ["100,000", "2", "30", "24", "80", "over 300"] in rows(text)
    assert ["100,000", "0.0833", "1.25", "1", "3.33", "over 12.5"] in rows(text)
    assert ["1,000", "0.5", "-", "1", "-", "-"] in rows(text)
    for sentence in (
        "ellzero 1 is 2 to 12 times as fast as glmnet.",
        "ellzero 2 is 1.25 times as slow as glmnet.",
        "ellzero 2 is 10 times as fast as L0Learn 2 (or more: it ran into the limit).",
        "Above p = 40,000 L0Learn 1 is 3.33 times as slow as glmnet. The paper: slightly faster.",
        "ellzero 2 at p = 100,000: 30 s, within the paper's 60 s for its kind.",
        "L0Learn 1 at p = 100,000: 80 s, not within the paper's 70 s for its kind.",
        "L0Learn 2 at p = 100,000: over 300 s, not within the paper's 60 s for its kind.",
    ):
        assert f"- {sentence}" in text
    assert "A quick run" not in text


def test_a_limit_of_our_own_is_not_passed_over(tmp_path):
    records = [measured(1_000, "ellzero 2", 0.5), measured(1_000, REFERENCE, 1.0)]
    records += [measured(2_000, "ellzero 2", None), measured(2_000, REFERENCE, 2.0)]
    text = FIG4.report(records, tmp_path, Scale())
    assert "- ellzero 2 is 2 times as fast as glmnet; it ran into the limit at p = 2,000." in text
    text = FIG4.report(records[2:], tmp_path, Scale())
    assert "- ellzero 2 is not comparable with glmnet; it ran into the limit at p = 2,000." in text


def test_report_of_several_data_sets(tmp_path):
    records = [measured(1_000, "ellzero 1", seconds, repetition) for repetition, seconds in enumerate((1.0, 2.0, 3.0))]
    text = FIG4.report(records, tmp_path, Scale())
    assert ["1,000", "2 ± 0.577"] in rows(text)
    assert "3 data sets to a number" in text


def test_missing_packages_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(run_times, "has_r_package", lambda name: name != "L0Learn")
    assert not any(tool.startswith("L0Learn") for tool in FIG4.tools(quick=False))
    assert "Not installed: L0Learn 1, L0Learn 2" in FIG4.report([measured(1_000, REFERENCE, 1.0)], tmp_path, Scale())


def test_fits_that_take_too_long(monkeypatch):
    task = {"p": 60, "repetition": 0, "method": "ellzero 1", "quick": True}
    monkeypatch.setattr(run_times, "call_in_process", lambda *_: None)
    assert FIG4.run(task) == {"time": None, "limit": run_times.QUICK.limit}
    monkeypatch.setattr(run_times, "call_in_process", lambda *_: {"time": 21.0, "solutions": 30})
    assert FIG4.run(task) == {"time": None, "solutions": 30, "limit": run_times.QUICK.limit}


# Table 3.


@pytest.fixture(scope="module")
def quick_certification(tmp_path_factory):
    return reproduce("table3", tmp_path_factory.mktemp("table3"), QUICK)


def test_quick_certification(quick_certification):
    outcome = quick_certification
    assert outcome.failures == {}
    assert outcome.complete
    for record in outcome.records:
        assert record["status"] == "optimal"
        assert record["gap"] <= certification.GAP
        assert record["valid"]
        assert record["verified_gap"] <= certification.GAP * (1.0 + 1e-6)
        assert record["features"] == 5
        assert record["recovered"]
        assert (record["M"] is None) == record["method"].endswith("no M")
    text = outcome.text
    assert f"{len(outcome.records)} of {len(outcome.records)} searches end with a proof" in text
    assert "Proofs of the same problem agree" in text
    assert "A quick run" in text
    assert (outcome.page.parent / "table3-quick.png").stat().st_size > 10_000


def test_both_readings_and_the_papers_sizes():
    tasks = TABLE3.tasks(Scale())
    assert {task["p"] for task in tasks} == {10_000, 20_000, 30_000, 40_000, 50_000}
    assert {task["reading"] for task in tasks} == {"sum", "mean"}
    assert certification.READINGS == {"sum": 10.0 / 1000, "mean": 10.0}
    assert {task["p"] for task in tasks if task["method"] == "HiGHS alone"} <= {10_000}
    assert {task["repetition"] for task in tasks} == set(range(5))


@pytest.mark.parametrize("reading", ["sum", "mean"])
def test_lambda_0_asks_for_five_features(reading):
    X, y, truth = draw_problem({"p": 300, "repetition": 1})
    lambda_2 = certification.READINGS[reading]
    lambda_0 = lambda_0_for_true_size(X, y, lambda_2)
    solution = solve(X, y, loss="hinge", lambda_0=lambda_0, lambda_2=lambda_2, fit_intercept=False)
    assert solution.status == "optimal"
    np.testing.assert_array_equal(solution.support, truth)


def proof(p, method, seconds, **other):
    usual = {
        "reading": "sum",
        "repetition": 0,
        "limit": 300.0,
        "threads": 2,
        "status": "optimal",
        "lambda_0": 0.06,
        "M": 1.2,
        "objective": 0.5,
        "gap": 9e-5,
        "nodes": 1234,
        "features": 5,
        "recovered": True,
        "prover": None,
        "valid": True,
        "verify_time": 0.5,
    }
    return {"p": p, "method": method, "time": seconds} | usual | other


def test_report_of_certification(tmp_path):
    records = [
        proof(10_000, "IGA", 0.7),
        proof(50_000, "IGA", 2.97),
        proof(10_000, "IGA, no M", 3.5, M=None, valid=False, recovered=False, objective=0.51),
        proof(50_000, "IGA, no M", 300.2, M=None, status="time_limit", gap=0.072),
        proof(10_000, "IGA on HiGHS", 7.0, prover="HiGHS 1.2", valid=False),
        {"p": 10_000, "method": "HiGHS alone", "time": None, "reading": "sum", "repetition": 0, "limit": 300.0}
        | {"status": "ended from outside"},
    ]
    text = TABLE3.report(records, tmp_path, Scale())
    assert ["IGA, M", "0.7", "2.97"] in rows(text)
    assert ["IGA, no M", "3.5", "over 300 (gap 7.2 %)"] in rows(text)
    assert ["HiGHS alone, M", "ended from outside", "-"] in rows(text)
    assert ["the paper: IGA", "35", "297 (gap 0.05 %)"] in rows(text)
    assert ["the paper: Gurobi", "4,446", "over a day"] in rows(text)
    assert "rests on HiGHS 1.2" in text
    for sentence in (
        "IGA, M, sum over rows: 50 to 100 times as fast as the paper's IGA on its machine.",
        "IGA, no M, sum over rows: 10 times as fast as the paper's IGA on its machine; not finished at p = 50,000.",
        "HiGHS alone, M, sum over rows: no proof; not finished at p = 10,000.",
        "4 of 6 searches end with a proof; in 3 of these the best model has exactly the five true features",
        "`ez.verify` finds 3 of the built-in solver's 4 certificates valid.",
        "Proofs of the same problem do NOT agree: their objectives differ by at most 2 %.",
    ):
        assert f"- {sentence}" in text


def test_report_of_several_proofs(tmp_path):
    records = [proof(10_000, "IGA", seconds, repetition=k, recovered=k > 0) for k, seconds in enumerate((1.0, 3.0))]
    text = TABLE3.report(records, tmp_path, Scale())
    assert ["IGA, M", "2 ± 1"] in rows(text)
    assert "mean of 2 data sets ± standard error" in text
    assert "1 of 2" in text
    assert "2 of 2 valid" in text


def test_a_search_that_had_to_be_ended(monkeypatch):
    monkeypatch.setattr(certification, "call_in_process", lambda *_: None)
    record = TABLE3.run({"p": 10, "repetition": 0, "reading": "sum", "method": "IGA", "quick": True})
    assert record == {"limit": certification.QUICK_LIMIT, "status": "ended from outside", "time": None}


def test_missing_solvers_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(certification.importlib.util, "find_spec", lambda name: None)
    assert not any("HiGHS" in task["method"] for task in TABLE3.tasks(Scale()))
    assert "IGA on HiGHS: not run, since highspy is not installed." in TABLE3.report(
        [proof(10_000, "IGA", 1.0)], tmp_path, Scale()
    )
