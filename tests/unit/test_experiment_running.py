"""The runner of experiments: it keeps results, resumes runs, reports failures and estimates the time left."""

import io
import json
from dataclasses import dataclass, field

import pytest

from ellzero.base.errors import InvalidInputError
from experiments import EXPERIMENTS, find, running
from experiments.experiment import Scale, describe
from experiments.measurement.markdown import mean_with_error_text, table
from experiments.measurement.statistics import grouped, mean_with_error
from experiments.progress import RunProgress, duration
from experiments.running import reproduce


@dataclass
class Squares:
    """An experiment that squares numbers; those in `bad` fail."""

    name: str = "squares"
    title: str = "Squares of numbers"
    serial: bool = True
    bad: tuple = ()
    ran: list = field(default_factory=list)

    def tasks(self, scale):
        return [{"n": n, "repetition": r, "method": "a/b (c)"} for r in range(scale.repeats(4, 2)) for n in (1, 2, 3)]

    def run(self, task):
        self.ran.append((task["n"], task["repetition"]))
        if task["n"] in self.bad:
            raise ValueError("this number\nis bad")
        return {"square": task["n"] ** 2}

    def report(self, records, folder, scale):
        return f"sum {sum(record['square'] for record in records)}, quick {scale.quick}"


@pytest.fixture
def squares(monkeypatch):
    experiment = Squares()
    monkeypatch.setattr(running, "find", lambda name: experiment)
    return experiment


def test_all_tasks_run_once_and_are_kept(squares, tmp_path):
    outcome = reproduce("squares", tmp_path, Scale())
    assert outcome.complete
    assert outcome.failures == {}
    assert len(squares.ran) == 12
    assert outcome.text.startswith("## Squares of numbers\n\n`python -m experiments squares`")
    assert "12 of 12 tasks" in outcome.text
    assert outcome.text.endswith("sum 56, quick False")
    assert (tmp_path / "squares.md").read_text() == outcome.text + "\n"
    lines = [json.loads(line) for line in (tmp_path / "squares.jsonl").read_text().splitlines()]
    assert lines == outcome.records
    assert {(line["n"], line["square"]) for line in lines} == {(1, 1), (2, 4), (3, 9)}
    assert all(line["seconds"] >= 0.0 for line in lines)
    reproduce("squares", tmp_path, Scale())
    assert len(squares.ran) == 12  # nothing was left to do


def test_a_run_goes_on_with_what_is_missing(squares, tmp_path):
    reproduce("squares", tmp_path, Scale(repetitions=2))
    assert len(squares.ran) == 6
    lost = sorted((tmp_path / "squares").glob("*.json"))[0]
    lost.write_text(lost.read_text()[:20])  # a file that was cut off, by a full disk say
    squares.ran.clear()
    outcome = reproduce("squares", tmp_path, Scale(repetitions=3))
    assert outcome.complete
    assert len(squares.ran) == 4  # the third repetition, and the lost one


def test_a_result_of_another_task_is_not_taken(squares, tmp_path):
    reproduce("squares", tmp_path, Scale(repetitions=1))
    file = next((tmp_path / "squares").glob("n=1_*.json"))
    kept = json.loads(file.read_text())
    file.write_text(json.dumps(kept | {"task": kept["task"] | {"method": "a_b (c)"}}))  # the same file name
    squares.ran.clear()
    reproduce("squares", tmp_path, Scale(repetitions=1))
    assert squares.ran == [(1, 0)]
    file.write_text(json.dumps(kept | {"ellzero": "0.0.1"}))  # nor one of another version
    squares.ran.clear()
    reproduce("squares", tmp_path, Scale(repetitions=1))
    assert squares.ran == [(1, 0)]


def test_quick_results_are_apart(squares, tmp_path):
    assert reproduce("squares", tmp_path, Scale(quick=True)).text.endswith("quick True")
    assert reproduce("squares", tmp_path, Scale()).complete
    assert len(squares.ran) == 6 + 12


def test_failures_are_told_and_tried_again(squares, tmp_path):
    squares.bad = (2,)
    outcome = reproduce("squares", tmp_path, Scale(repetitions=1))
    assert not outcome.complete
    assert outcome.failures == {"n=2_repetition=0_method=a_b_c_": "ValueError: this number is bad"}
    assert "2 of 3 tasks" in outcome.text
    squares.bad = ()
    assert reproduce("squares", tmp_path, Scale(repetitions=1)).complete


def test_only_some(squares, tmp_path):
    outcome = reproduce("squares", tmp_path, Scale(repetitions=2), only="n=3")
    assert sorted(squares.ran) == [(3, 0), (3, 1)]
    assert (outcome.asked, len(outcome.records)) == (6, 2)
    outcome = reproduce("squares", tmp_path, Scale(repetitions=2), run=False)
    assert len(outcome.records) == len(squares.ran) == 2
    with pytest.raises(InvalidInputError, match="only must be part of the description of a task"):
        reproduce("squares", tmp_path, Scale(), only="n=7")


def test_a_report_before_any_result(squares, tmp_path):
    assert reproduce("squares", tmp_path, Scale(), run=False).text == "No task has a result yet."


def test_interrupted_work_keeps_what_is_done(squares, tmp_path, monkeypatch):
    def stop(task):
        if len(squares.ran) == 2:
            raise KeyboardInterrupt
        squares.ran.append(task["n"])
        return {"square": 1}

    monkeypatch.setattr(squares, "run", stop)
    with pytest.raises(KeyboardInterrupt):
        reproduce("squares", tmp_path, Scale())
    assert len(list((tmp_path / "squares").glob("*.json"))) == 2
    assert not list(tmp_path.rglob("*.part"))


def test_progress_says_how_long(squares, tmp_path):
    stream = io.StringIO()
    reproduce("squares", tmp_path, Scale(repetitions=1), stream=stream)
    assert stream.getvalue() == "ellzero: squares: 3 of 3 tasks, 0 s so far, done\n"
    stream = io.StringIO()
    reproduce("squares", tmp_path, Scale(repetitions=1), stream=stream)
    assert stream.getvalue() == "ellzero: squares: 3 of 3 tasks have their result already\n"


def test_time_left_is_that_of_tasks_alike():
    def task(n, repetition):
        return {"n": n, "repetition": repetition, "method": "x"}

    done = [task(1, 0) | {"seconds": 1.0}, task(2, 0) | {"seconds": 10.0}]
    left = [task(1, 1), task(2, 1), task(2, 2), task(3, 0)]
    assert RunProgress("x", left, done, 1, None).remaining() == pytest.approx(1.0 + 10.0 + 10.0 + 5.5)
    assert RunProgress("x", left, done, 2, None).remaining() == pytest.approx(26.5 / 2)
    assert RunProgress("x", left, done, 8, None).remaining() == pytest.approx(10.0)  # the longest task cannot be split
    progress = RunProgress("x", left, done, 1, None)
    progress.advance(task(3, 0), {"seconds": 100.0})
    assert progress.remaining() == pytest.approx(21.0)
    assert RunProgress("x", left, [], 1, None).remaining() == 0.0


def test_words():
    assert describe({"n": 10, "method": "L0L2/x (CD w. y)"}) == "n=10_method=L0L2_x_CD_w._y_"
    assert [duration(s) for s in (3.4, 89.0, 100.0, 7200.0)] == ["3 s", "89 s", "2 min", "2.0 h"]
    assert mean_with_error([1.0, 2.0, 3.0]) == (2.0, pytest.approx(1.0 / 3.0**0.5))
    assert mean_with_error_text([5.0]) == "5.0 ± 0.0"
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n|---|---|\n| 1 | 2 |"
    assert grouped([3, 1, 4, 6], lambda n: n % 2) == {1: [3, 1], 0: [4, 6]}


def test_every_experiment_is_there():
    for name in EXPERIMENTS:
        experiment = find(name)
        assert experiment.name == name
        assert experiment.title
        for scale in (Scale(), Scale(quick=True)):
            tasks = experiment.tasks(scale)
            assert tasks
            assert len({describe(task) for task in tasks}) == len(tasks)
            assert json.loads(json.dumps(tasks)) == tasks
    with pytest.raises(InvalidInputError, match="name must be"):
        find("fig9")
