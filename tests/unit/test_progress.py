"""Progress reports of long work on standard error."""

import io
import sys

from ellzero.base.progress import Bar, Lines, reporter
from ellzero.exact.search_log import SearchLog, SearchProgress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_terminals_get_a_bar_if_tqdm_is_there(monkeypatch):
    assert isinstance(reporter(io.StringIO()), Lines)
    assert isinstance(reporter(Terminal()), Bar)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert isinstance(reporter(Terminal()), Lines)


def test_a_bar_ends_once():
    """The end may be reported twice; work that begins anew gets a bar of its own."""
    stream = Terminal()
    bar = reporter(stream)
    for fraction in (0.2, 0.7, 1.0, 1.0):
        bar(fraction, 0.01, 3)
    assert stream.getvalue().count("100 %") == 1
    assert stream.getvalue().count("\n") == 1
    assert "lambda_0 = 0.01  features = 3" in stream.getvalue()
    for fraction in (0.5, 1.0):
        bar(fraction, 0.0, 0)
    assert stream.getvalue().count("100 %") == stream.getvalue().count("\n") == 2


def test_lines_end_once():
    stream = io.StringIO()
    lines = reporter(stream)
    for fraction in (0.2, 0.7, 1.0, 1.0):
        lines(fraction, 0.01, 3)
    assert stream.getvalue().count("ellzero: 100 %  lambda_0 = 0.01  features = 3") == 1
    assert stream.getvalue().endswith(" s\n")


def test_a_search_log_of_several_searches():
    """A second search may have fewer nodes than the first: its rate counts its own nodes only."""
    stream = io.StringIO()
    log = SearchLog(stream)
    for nodes in (1000, 7):
        log(SearchProgress(objective=1.0, lower_bound=1.0, gap=0.0, nodes=nodes, open=0, seconds=0.1))
    first, second = stream.getvalue().splitlines()
    assert "nodes 1000" in first
    assert "nodes 7" in second
    assert "-" not in second.removeprefix("ellzero: ")
