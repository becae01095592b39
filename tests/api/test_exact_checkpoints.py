"""Searches that go on where they were stopped or killed, and checkpoints that are of no use."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from support.exact_problems import LONG_SETTINGS, RESPONSE, WEIGHT, X, Y, long_problem
from support.problems import LOSSES, target

import ellzero as ez

KILLED = """
    import ellzero as ez
    X, y, _ = ez.datasets.make_classification(150, 100, 6, s=1.0, random_state=0)
    ez.solve(X, y, checkpoint={path!r}, **{settings!r})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_killed_and_resumed(tmp_path, record_property):
    data, labels = long_problem()
    whole = ez.solve(data, labels, **LONG_SETTINGS)
    assert whole.status == "optimal"
    path = tmp_path / "search.npz"
    code = textwrap.dedent(KILLED).format(path=str(path), settings=LONG_SETTINGS)
    with subprocess.Popen([sys.executable, "-c", code]) as child:
        until = time.monotonic() + 60.0
        while not path.exists() and child.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        assert child.wait(timeout=250) == -signal.SIGKILL, "the search was over before it could be killed"
    assert path.exists()
    resumed = ez.solve(data, labels, checkpoint=path, **LONG_SETTINGS)
    assert resumed.status == "optimal"
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-12)
    assert resumed.lower_bound == pytest.approx(whole.lower_bound, rel=1e-12)
    assert resumed.nodes == whole.nodes
    report = ez.verify(resumed.certificate, data, labels)
    assert report.valid, report.reasons
    assert report.gap <= 1e-4
    assert not path.exists(), "a finished search removes its checkpoint"
    record_property("figure", f"resumed after SIGKILL: {resumed.nodes} nodes, {whole.nodes} without")


def test_a_limit_leaves_a_checkpoint_to_go_on_from(tmp_path):
    """In steps of some nodes: the same search as without steps."""
    path = tmp_path / "search.npz"
    whole = ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, gap=1e-5, n_jobs=1)
    assert whole.nodes > 25, "too easy to tell anything"
    for step in range(1, 1000):
        sol = ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, gap=1e-5, n_jobs=1, node_limit=10 * step, checkpoint=path)
        assert ez.verify(sol.certificate, X, Y).valid, step
        assert path.exists() == (sol.status == "node_limit"), step
        if sol.status != "node_limit":
            break
    assert step > 1
    assert sol.status == "optimal"
    assert sol.objective == pytest.approx(whole.objective, rel=1e-12)
    assert sol.lower_bound == pytest.approx(whole.lower_bound, rel=1e-12)
    assert sol.nodes == whole.nodes


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("how", ["plain", "k and bound", "standardized"])
def test_checkpoints_of_all_kinds(tmp_path, loss, how):
    y = target(RESPONSE, loss)
    settings = {
        "plain": {"lambda_0": 0.005, "lambda_2": 0.003},
        "k and bound": {"k": 4, "bound": 0.5, "unpenalized": [2], "sample_weight": WEIGHT},
        "standardized": {"lambda_0": 0.01, "lambda_1": 0.002, "standardize": True, "lower": -0.4},
    }[how]
    settings = {"loss": loss, "n_jobs": 1, **settings}
    path = tmp_path / "search.npz"
    whole = ez.solve(X, y, checkpoint=tmp_path / "whole.npz", **settings)
    part = ez.solve(X, y, node_limit=1, checkpoint=path, **settings)
    resumed = ez.solve(X, y, checkpoint=path, **settings)
    assert resumed.status == whole.status
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-9)
    assert resumed.lower_bound == pytest.approx(whole.lower_bound, rel=1e-6)
    assert part.lower_bound <= resumed.objective
    for sol in (part, resumed):
        report = ez.verify(sol.certificate, X, y)
        assert report.valid, report.reasons


@pytest.mark.parametrize(
    "other",
    [
        {"lambda_0": 0.006},
        {"k": 5},
        {"lambda_2": 0.004},
        {"loss": "hinge"},
        {"y": -Y},
        {"X": X[:, ::-1]},
        {"gap": 1e-3},
        {"sample_weight": WEIGHT},
        {"upper": 0.3},
        {"unpenalized": [1]},
        {"standardize": True},
        {"fit_intercept": False},
        {"bound": 1.0},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_checkpoint_of_another_problem(tmp_path, other):
    path = tmp_path / "search.npz"
    settings = {"X": X, "y": Y, "lambda_0": 0.005, "lambda_2": 0.003, "checkpoint": path}
    ez.solve(**settings, node_limit=1)
    before = path.read_bytes()
    with pytest.raises(ez.InvalidInputError, match=r"checkpoint .* belongs to another problem"):
        ez.solve(**{**settings, **other})
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and nothing more", None])
def test_a_damaged_checkpoint(tmp_path, content):
    path = tmp_path / "search.npz"
    ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, node_limit=1, checkpoint=path)
    path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    with pytest.raises(ez.InvalidInputError, match=r"checkpoint .* cannot be read"):
        ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, checkpoint=path)


@pytest.mark.parametrize("missing", ["node.bound", "node.state", "state.beta.starts", "tree.model_intercept", "incumbent.cost"])
def test_a_checkpoint_of_another_version(tmp_path, missing):
    path = tmp_path / "search.npz"
    ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, node_limit=1, checkpoint=path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    del arrays[missing]
    np.savez(path, **arrays)
    with pytest.raises(ez.InvalidInputError, match=r"checkpoint .* cannot be read: it is damaged, or another version"):
        ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, checkpoint=path)


# Checkpoints that lie ---------------------------------------------------------------------------------------------------

HARD = {"k": 6, "lambda_2": 1e-3, "gap": 1e-6, "n_jobs": 1}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A hard problem, its solution, and the arrays of a checkpoint in the middle of the search."""
    data, labels, _ = ez.datasets.make_classification(60, 40, 6, s=1.0, correlation="constant", rho=0.7, random_state=3)
    whole = ez.solve(data, labels, **HARD)
    path = tmp_path_factory.mktemp("checkpoint") / "search.npz"
    part = ez.solve(data, labels, node_limit=60, checkpoint=path, **HARD)
    assert (part.status, whole.status) == ("node_limit", "optimal")
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    assert len(arrays["node.id"]) > 5
    return data, labels, whole, arrays


def resume(stopped, path, tampered):
    data, labels, _, arrays = stopped
    arrays = {name: array.copy() for name, array in arrays.items()}
    tampered(arrays)
    np.savez(path, **arrays)
    return ez.solve(data, labels, checkpoint=path, **HARD)


def put(name, place, value):
    def tampered(arrays):
        arrays[name][place] = value

    return tampered


def filled(name, value):
    return lambda arrays: arrays[name].fill(value)


def shortened(name, length=1):
    def tampered(arrays):
        arrays[name] = arrays[name][:length]

    return tampered


def added(name, value):
    def tampered(arrays):
        arrays[name] = arrays[name] + arrays[name].dtype.type(value)

    return tampered


def kept(**changes):
    """Other entries of the memory beside the tree."""

    def tampered(arrays):
        header = json.loads(arrays["header"].tobytes())
        header["kept"] |= changes
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)

    return tampered


def without(arrays, keep):
    """Leave out open nodes."""
    for name in [name for name in arrays if name.startswith("node.")]:
        arrays[name] = arrays[name][keep]


def columns_beyond(arrays):
    arrays["search.columns"], arrays["search.columns.starts"] = np.arange(40, dtype=np.int32) + 2**20, np.array([0, 40])


def other_feature(arrays):
    """The two children of a node split it by different features."""
    child = np.flatnonzero(arrays["tree.branch"] >= 0)[-1]
    arrays["tree.branch"][child] = (arrays["tree.branch"][child] + 1) % len(arrays["tree.block_ends"])


MALFORMED = {
    "starts far beyond": (put("state.columns.starts", 1, 10**9), "state.columns.starts does not divide"),
    "negative starts": (put("state.beta.starts", 1, -5), "state.beta.starts does not divide"),
    "falling starts": (put("state.near.starts", -2, 2**40), "state.near.starts does not divide"),
    "incumbent's starts": (put("incumbent.support.starts", 1, 2**40), "incumbent.support.starts does not divide"),
    "column far out of range": (put("state.columns", 0, 2**30), "state.columns has entries out of range"),
    "negative column": (put("state.columns", 0, -5), "state.columns has entries out of range"),
    "negative columns that are in": (filled("state.clause_members", -7), "state.clause_members has entries out of range"),
    "clauses without members": (filled("state.clause_ends", 1), "the clauses of its states do not fit together"),
    "charges": (filled("state.charges", -1.0), "state.charges has entries out of range"),
    "charges of nothing": (shortened("state.charges.starts", 1), "state.charges.starts has the wrong shape"),
    "members of blocks": (filled("tree.block_members", 10**6), "tree.block_members has entries out of range"),
    "blocks without members": (filled("tree.block_ends", 1), "tree.block_ends is not in ascending order"),
    "blocks that end late": (put("tree.block_ends", -1, 10**6), "the blocks of its tree do not fit together"),
    "columns that are near": (added("state.near", 2**20), "state.near has entries out of range"),
    "columns that are left": (columns_beyond, "search.columns has entries out of range"),
    "row of a point": (filled("tree.row", 10**7), "the points of its tree do not fit together"),
    "no points": (shortened("tree.model_intercept", 0), "the points of its tree do not fit together"),
    "half of the points": (
        lambda arrays: shortened("tree.model_intercept", len(arrays["tree.model_intercept"]) // 2)(arrays),
        "do not fit together",
    ),
    "counters": (shortened("search.picks", 0), "search.picks has the wrong shape"),
    "picks": (filled("search.picks", -1), "search.picks has entries out of range"),
    "nodes": (filled("search.nodes_done", 2**40), "its nodes do not fit together"),
    "closed": (shortened("search.closed", 0), "search.closed has the wrong shape"),
    "number of a node": (added("node.id", 10**9), "node.id has entries out of range"),
    "same number": (filled("node.id", 1), "the open nodes do not fit together"),
    "state of a node": (filled("node.state", 10**6), "node.state has entries out of range"),
    "decision": (added("tree.branch", 2**28), "tree.branch has entries out of range"),
    "side": (filled("tree.side", 2), "tree.side has entries out of range"),
    "parent": (added("tree.parent", 2**40), "tree.parent has entries out of range"),
    "incumbent's columns": (added("incumbent.support", 2**24), "incumbent.support has entries out of range"),
    "incumbent twice": (filled("incumbent.support", 3), "incumbent.support is not in ascending order"),
    "incumbent infinite": (filled("incumbent.beta", np.inf), "incumbent.beta has entries that are not finite"),
    "intercept infinite": (filled("incumbent.intercept", np.nan), "incumbent.intercept has entries that are not finite"),
    "start infinite": (filled("state.beta", np.nan), "state.beta has entries that are not finite"),
    "negative multiplier": (filled("state.mu", -1.0), "state.mu has entries out of range"),
    "dual points infinite": (filled("tree.model_intercept", np.inf), "tree.model_intercept has entries that are not finite"),
    "boxes": (put("state.boxes", (0, 0), 2.0**40), "the columns of its boxes do not fit together"),
    "boxes at a fraction": (put("state.boxes", (0, 0), 0.5), "the columns of its boxes do not fit together"),
    "boxes upside down": (put("state.boxes", (0, 1), 1e30), "its boxes do not fit together"),
    "boxes of nothing": (filled("search.boxes", np.nan), "its boxes do not fit together"),
    "boxes missing": (shortened("search.boxes.starts", 1), "search.boxes.starts has the wrong shape"),
    "types": (lambda arrays: arrays.update({"state.beta": arrays["state.beta"].astype(str)}), "wrong type '<U"),
    "another array": (lambda arrays: arrays.update(more=np.ones(3)), "an array 'more', which does not belong there"),
    "cycle": (put("tree.parent", 1, 5), "the root must come first and every parent before its children"),
    "children of different splits": (other_feature, "missing child or children that do not cover it"),
    "too many features": (
        lambda arrays: arrays.update(
            {"incumbent.support": np.arange(20, dtype=np.int32), "incumbent.beta": np.ones(20)}
            | {f"incumbent.{name}.starts": np.array([0, 20]) for name in ("support", "beta")}
        ),
        "its solution is none of this problem",
    ),
    "assumed bound": (kept(bound=1e-3), "its assumed bounds are not those of this search"),
    "assumed free bound": (kept(free_bound=1e-3), "its assumed bounds are not those of this search"),
    "set of IGA": (kept(integral=[1, 2]), "its set of features is none of this search"),
    "iteration": (kept(iteration=3), "its iteration is none of this search"),
    "searched": (kept(searched="yes"), "it does not say what was searched"),
    "memory": (kept(more=1), "its memory has other entries"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_checkpoints_that_are_refused(stopped, tmp_path, case):
    tampered, reason = MALFORMED[case]
    path = tmp_path / "search.npz"
    with pytest.raises(ez.InvalidInputError, match=rf"cannot be read: it is damaged, or another version .*{reason}"):
        resume(stopped, path, tampered)
    assert path.exists(), "what cannot be read is not removed"


def worse_and_nothing_open(arrays):
    arrays["incumbent.beta"][:] = 0.0
    arrays["incumbent.cost"][:] = 0.9
    arrays["search.closed"][:] = 1.0
    without(arrays, slice(0))


def high_bounds(arrays):
    arrays["node.bound"][:] = 1e6
    arrays["search.closed"][:] = 1e6


def all_out(arrays):
    arrays["state.outside"][:] = np.iinfo(np.uint64).max


def all_in(arrays):
    """Features that no dual point puts in."""
    states = len(arrays["state.mu"])
    for name, values in {"members": [0, 1, 2], "ends": [1, 2, 3]}.items():
        arrays[f"state.clause_{name}"] = np.tile(np.array(values, dtype=arrays[f"state.clause_{name}"].dtype), states)
        arrays[f"state.clause_{name}.starts"] = 3 * np.arange(states + 1)
    arrays["state.charges"], arrays["state.charges.starts"] = np.zeros(0), np.zeros(states + 1, dtype=np.int64)


def no_columns_but_those_of_the_solution(arrays):
    """A numbering that leaves out all other features; what is said in another numbering is left out too."""
    support, words = arrays["incumbent.support"], 1
    states = len(arrays["state.mu"])
    arrays["search.columns"], arrays["search.columns.starts"] = support, np.array([0, len(support)])
    arrays["search.boxes"], arrays["search.boxes.starts"] = arrays["search.boxes"][:0], np.zeros(2, dtype=np.int64)
    arrays["state.outside"] = np.zeros(states * words, dtype=np.uint64)
    arrays["state.outside.starts"] = words * np.arange(states + 1)
    for name in ("boxes", "clause_members", "clause_ends", "charges", "columns", "beta", "shares", "near"):
        arrays[f"state.{name}"], arrays[f"state.{name}.starts"] = (
            arrays[f"state.{name}"][:0],
            np.zeros(states + 1, dtype=np.int64),
        )


LIES = {
    "a bad solution, and nothing open": worse_and_nothing_open,
    "a good cost for a bad solution": put("incumbent.cost", 0, 1e-9),
    "nothing open": lambda arrays: without(arrays, slice(0)),
    "one node open": lambda arrays: without(arrays, slice(1)),
    "bounds": high_bounds,
    "bounds of nothing": filled("node.bound", np.nan),
    "boxes of the root": lambda arrays: arrays["search.boxes"].__imul__(1e-3),
    "boxes of nodes": lambda arrays: arrays["state.boxes"].__setitem__((slice(None), slice(1, 3)), 0.0),
    "all features out": all_out,
    "features in": all_in,
    "columns": no_columns_but_those_of_the_solution,
    "no dual point proves anything": filled("tree.model_scale", 0.0),
    "starts far away": lambda arrays: (arrays["state.beta"].__imul__(1e12), arrays["state.intercept"].fill(-1e12)),
    "large multipliers": filled("state.mu", 1e200),
    "all nodes dive": filled("node.dives", True),
    "all nodes wait": filled("node.waits", True),
    "states of other nodes": lambda arrays: arrays.update({"node.state": arrays["node.state"][::-1]}),
}


@pytest.mark.parametrize("lie", LIES)
def test_checkpoints_that_lie_change_nothing(stopped, tmp_path, lie):
    """The search goes on from what the tree itself proves, and ends as it should."""
    data, labels, whole, _ = stopped
    found = resume(stopped, tmp_path / "search.npz", LIES[lie])
    assert found.status == "optimal"
    assert found.objective == pytest.approx(whole.objective, rel=2e-6)
    assert found.lower_bound <= whole.objective * (1.0 + 1e-9)
    report = ez.verify(found.certificate, data, labels)
    assert report.valid, report.reasons


def test_an_honest_checkpoint_goes_on_as_if_nothing_had_happened(stopped, tmp_path):
    _, _, whole, _ = stopped
    found = resume(stopped, tmp_path / "search.npz", lambda arrays: None)
    assert found.nodes == whole.nodes
    assert (found.objective, found.lower_bound) == pytest.approx((whole.objective, whole.lower_bound), rel=1e-12)


def test_checkpoint_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sol = ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, node_limit=1, checkpoint="here.npz")
    assert os.listdir(tmp_path) == ["here.npz"]
    assert sol.status == "node_limit"
    ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, checkpoint="here.npz")
    assert os.listdir(tmp_path) == []
