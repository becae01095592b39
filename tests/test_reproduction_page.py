"""The page on the reproduction shows the recorded results, and the records are those of the experiments."""

import json

import pytest

from experiments import EXPERIMENTS, find, write_page
from experiments.experiment import Scale


def test_the_page_is_up_to_date():
    text = write_page.PAGE.read_text()
    assert write_page.renewed(text) == text


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_records_belong_to_tasks(name):
    records = [json.loads(line) for line in (write_page.RESULTS / f"{name}.jsonl").read_text().splitlines()]
    tasks = find(name).tasks(Scale())
    assert records
    asked = [{key: record[key] for key in tasks[0]} for record in records]
    assert len({json.dumps(task) for task in asked}) == len(asked)
    here = {task.get("method") for task in tasks}  # methods that are installed
    assert [task for task in asked if task.get("method") in here and task not in tasks] == []
