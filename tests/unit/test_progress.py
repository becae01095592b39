"""Progress reports of long work on standard error."""

import io
import sys

import numpy as np
import pytest

import ellzero as ez
from ellzero.base.progress import Bar, Lines, as_progress, reporter
from ellzero.exact.search_log import SearchLog, SearchProgress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_terminals_get_a_bar_if_tqdm_is_there(monkeypatch):
    assert isinstance(reporter(io.StringIO(), "work"), Lines)
    assert isinstance(reporter(Terminal(), "work"), Bar)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert isinstance(reporter(Terminal(), "work"), Lines)


def test_a_bar_ends_once():
    """The end may be reported twice; work that begins anew gets a bar of its own."""
    stream = Terminal()
    bar = reporter(stream, "checking the proof")
    for fraction in (0.2, 0.7, 1.0, 1.0):
        bar(fraction, 0.01, 3)
    assert stream.getvalue().count("100 %") == 1
    assert stream.getvalue().count("\n") == 1
    assert "checking the proof: " in stream.getvalue()
    assert " left, at 3 features" in stream.getvalue()
    for fraction in (0.5, 1.0):
        bar(fraction, 0.0, 0)
    assert stream.getvalue().count("100 %") == stream.getvalue().count("\n") == 2


def test_lines_end_once():
    stream = io.StringIO()
    lines = reporter(stream, "cross-validation")
    for fraction in (0.2, 0.7, 1.0, 1.0):
        lines(fraction, 0.01, 1)
    assert stream.getvalue() == "ellzero: cross-validation: done in 0.0 s, at 1 feature\n"


def test_lines_say_how_long_it_will_take(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("ellzero.base.progress.time.monotonic", lambda: now[0])
    stream = io.StringIO()
    lines = reporter(stream, "storing by columns")
    for seconds, fraction in ((2.0, 0.01), (20.0, 0.25), (40.0, 0.5), (80.0, 1.0)):
        now[0] = 100.0 + seconds
        lines(fraction, 0.0, 0)
    assert stream.getvalue().splitlines() == [
        "ellzero: storing by columns: 1 % in 2.0 s",
        "ellzero: storing by columns: 25 % in 20 s, about 60 s left",
        "ellzero: storing by columns: 50 % in 40 s, about 40 s left",
        "ellzero: storing by columns: done in 80 s",
    ]


def test_work_that_is_done_soon_is_silent_and_shares_never_shrink(monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr("ellzero.base.progress.time.monotonic", lambda: now[0])
    report = as_progress(True, "cross-validation")
    for seconds, fraction in ((0.5, 0.2), (1.9, 0.5)):
        now[0] = 100.0 + seconds
        report(fraction, 0.0, 0)
    assert capsys.readouterr().err == ""
    for seconds, fraction in ((4.0, 0.6), (6.0, 0.5), (8.0, 0.8), (9.0, 1.0)):  # more work turned out at 6 s
        now[0] = 100.0 + seconds
        report(fraction, 0.0, 0)
    assert capsys.readouterr().err.splitlines() == [
        "ellzero: cross-validation: 60 % in 4.0 s, about 2.7 s left",
        "ellzero: cross-validation: 60 % in 6.0 s, about 4.0 s left",
        "ellzero: cross-validation: 80 % in 8.0 s, about 2.0 s left",
        "ellzero: cross-validation: done in 9.0 s",
    ]


def test_who_asks_for_nothing_sees_progress_where_somebody_looks(monkeypatch):
    assert as_progress(None, "work") is None  # the tests' standard error is no terminal
    assert as_progress(False, "work") is None
    monkeypatch.setattr("sys.stderr", Terminal())
    assert as_progress(None, "work") is not None
    assert as_progress(False, "work") is None
    monkeypatch.setattr("sys.stderr", None)
    assert as_progress(True, "work") is None


@pytest.mark.parametrize(
    "model",
    [
        ez.L0ClassifierCV(cv=3),  # climbs a ladder of values of lambda_2: how far, it does not know beforehand
        ez.L0Classifier(k=2, multi_class="ovr"),
        ez.L0Classifier(multi_class="ovr"),
    ],
)
def test_estimators_report_shares_of_the_whole_work(model):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 8))
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(60), [-0.5, 0.5])
    seen = []
    model.set_params(progress=lambda fraction, *_: seen.append(fraction)).fit(X, y)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)
    assert len(seen) > 2


def test_a_search_log_in_words():
    stream = io.StringIO()
    log = SearchLog(stream, 30.0)
    log.start = log.drawn = log.start - 10.0
    log(SearchProgress(objective=1.0, lower_bound=0.75, gap=0.25, nodes=1000, open=12, seconds=4.0))
    log(SearchProgress(objective=1.0, lower_bound=0.75, gap=0.25, nodes=1001, open=12, seconds=4.1))  # too soon
    log(SearchProgress(objective=1.0, lower_bound=1.0, gap=0.0, nodes=1007, open=0, seconds=5.0, models=3))
    assert stream.getvalue().splitlines() == [
        "ellzero: exact search: gap at most 25 % (found 1, none below 0.75), 1000 nodes done, 12 to do, 4.0 s of at most 30 s",
        "ellzero: 3 good models found: gap at most 0 % (found 1, none below 1), 1007 nodes done, 0 to do, 5.0 s",
    ]
