"""How the verifier walks a tree: many nodes at once or one by one, in bounded memory, with progress; the result is the same."""

import sys
from collections import Counter

import numpy as np
import pytest
from support.certificates import BASES, X, Y, base
from support.interruption import interrupt

import ellzero as ez
from ellzero.exact.verifier import bounds, tree

NUMBERS = ("valid", "objective", "lower_bound", "gap", "nodes", "leaves", "open_leaves", "reasons")


def deep(arrays):
    """The largest depth of a tree."""
    depth = np.zeros(len(arrays["parent"]), dtype=int)
    for node, parent in enumerate(arrays["parent"].tolist()[1:], start=1):
        depth[node] = depth[parent] + 1
    return int(depth.max())


def watched(monkeypatch):
    """The numbers of regions that wait, after each that is added."""
    waiting, add = [], tree.Waiting.add
    monkeypatch.setattr(tree.Waiting, "add", lambda self, *args: add(self, *args) or waiting.append(len(self.regions)))
    return waiting


@pytest.mark.parametrize("name", BASES)
def test_the_order_of_nodes_does_not_matter(name, monkeypatch):
    sol, _, _ = base(name)
    expected = ez.verify(sol.certificate, X, Y)
    for module, limit, value in ((tree, "MOST_ENTRIES", 1), (bounds, "LARGEST_BATCH", 3), (tree, "WAITING_BYTES", 0)):
        monkeypatch.setattr(module, limit, value)
        found = ez.verify(sol.certificate, X, Y)
        # Products of a batch may be summed in another order.
        assert found.lower_bound == pytest.approx(expected.lower_bound, rel=1e-12)
        others = [each for each in NUMBERS if each not in ("lower_bound", "gap")]
        assert [getattr(found, each) for each in others] == [getattr(expected, each) for each in others], limit


def test_few_regions_wait_where_memory_is_short(monkeypatch):
    rng = np.random.default_rng(0)
    data = rng.standard_normal((40, 60))
    y = data[:, :6].sum(axis=1) + 3.0 * rng.standard_normal(40)
    certificate = ez.solve(data, y, loss="squared_error", k=5, lambda_2=0.01, node_limit=300, n_jobs=1).certificate
    waiting = watched(monkeypatch)
    ez.verify(certificate, data, y)
    wide = max(waiting)
    waiting.clear()
    monkeypatch.setattr(tree, "WAITING_BYTES", 0)
    ez.verify(certificate, data, y)
    assert max(waiting) <= deep(certificate.arrays) + 1  # one for each level above: depth first
    assert wide > max(waiting), "too small a tree to tell anything"


def test_progress_goes_from_the_first_nodes_to_the_last():
    sol, _, _ = base("large tree")
    seen = []
    assert ez.verify(sol.certificate, X, Y, progress=lambda *args: seen.append(args)).valid
    fractions = [fraction for fraction, _, _ in seen]
    assert len(fractions) > 3
    assert 0.0 < fractions[0] < fractions[-1] == 1.0
    assert fractions == sorted(fractions)
    assert {args[1:] for args in seen} == {(0.0, 0)}


def test_progress_is_shown_only_of_what_takes_long(monkeypatch, capsys):
    sol, _, _ = base("large tree")
    ez.verify(sol.certificate, X, Y, progress=True)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("ellzero.base.progress.SECONDS_IN_SILENCE", -1.0)
    ez.verify(sol.certificate, X, Y)
    assert capsys.readouterr().err == ""
    ez.verify(sol.certificate, X, Y, progress=True)
    assert capsys.readouterr().err.startswith("ellzero: checking the proof: done in ")
    with pytest.raises(ez.InvalidInputError, match="progress must be True, False or a function, got 3"):
        ez.verify(sol.certificate, X, Y, progress=3)


LONG_CHECK = """
    import signal
    import numpy as np
    import ellzero as ez
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with Ctrl-C ignored
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60))
    y = X[:, :6].sum(axis=1) + 3.0 * rng.standard_normal(40)
    certificate = ez.solve(X, y, loss="squared_error", k=5, lambda_2=0.01, node_limit=200).certificate
    print("solving", flush=True)
    try:
        while True:
            ez.verify(certificate, X, y)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(ez.verify(certificate, X, y).valid, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_stops_a_check():
    interrupt(LONG_CHECK, 1.0, "True")


def test_points_that_do_next_to_nothing_are_not_kept(monkeypatch):
    """Dual points beside the first of a node: each fixes a feature, makes a box narrower, or raises the bound."""
    rng = np.random.default_rng(1)
    common = rng.standard_normal((40, 8))
    data = common @ rng.standard_normal((8, 120)) + rng.standard_normal((40, 120))
    y = data[:, :3].sum(axis=1) + 2.0 * rng.standard_normal(40)
    certificate = ez.solve(data, y, loss="squared_error", k=3, lambda_2=0.05, n_jobs=1, time_limit=20.0).certificate
    parent, branch = certificate.arrays["parent"], certificate.arrays["branch"]
    kinds, best, narrow = Counter(), {}, bounds.Stated.narrow

    def watch(self, states, points, upper):
        before = dict(states.split())
        found, after = narrow(self, states, points, upper)
        left = dict(after.split())
        for (node, region), bound in zip(before.items(), found.tolist(), strict=True):
            above = best.get(int(parent[node]), 0.0)
            best[node] = max(bound, above)
            if branch[node] >= 0 or node not in left:
                continue
            kept = np.isin(region.index, left[node].index)
            narrower = ((left[node].high - left[node].low) < 0.91 * (region.high - region.low)[kept]).any()
            fixes = not kept.all() or left[node].inside.sum() > region.inside.sum()
            kinds["fixes" if fixes else "narrows" if narrower else "raises" if bound > above else "nothing"] += 1
        return found, after

    monkeypatch.setattr(bounds.Stated, "narrow", watch)
    assert ez.verify(certificate, data, y).valid
    assert kinds["fixes"] > 20, "no points of groups: this tells nothing"
    assert kinds["nothing"] <= 0.02 * sum(kinds.values()), kinds
