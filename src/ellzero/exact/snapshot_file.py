"""Turn a snapshot of the core's search into named arrays, and back; every size, index and start is checked on the way back.

A list of objects becomes one array for each of their fields, named ``prefix.field``. Fields that are arrays of different
lengths are joined, and ``prefix.field.starts`` says where each begins. What follows from other fields is not written.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.reading import Form, Malformed, check_forms

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]

# The fields of each kind of object: numbers, one for each object, and lists of numbers or of rows.
NUMBERS: dict[str, dict[str, Form]] = {
    "search": {
        "closed": Form("f", (1,)),
        "nodes_done": Form("i", (1,), low=0),
        "picks": Form("i", (1,), low=0, high=2**62),
    },
    "incumbent": {"cost": Form("f", (1,))},
    "tree": {},
    "state": {
        "mu": Form("f", ("states",), low=0.0, finite=True),
        "diagonal": Form("i", ("states",), low=-1, high="diagonals"),
        "tried": Form("i", ("states",), low=0),
    },
    "node": {
        "id": Form("i", ("open",), low=0, high="nodes"),
        "bound": Form("f", ("open",)),
        "dives": Form("b", ("open",)),
        "waits": Form("b", ("open",)),
    },
}
LISTS: dict[str, dict[str, Form]] = {
    "search": {
        "columns": Form("i", ("left",), low=0, high="p", ascending=True),
        "boxes": Form("f", ("boxes", 2)),
    },
    "incumbent": {
        "support": Form("i", ("used",), low=0, high="p", ascending=True),
        "beta": Form("f", ("used",), finite=True),
        "intercept": Form("f", ("outputs",), finite=True),
    },
    "tree": {
        "parent": Form("i", ("nodes",), low=-1, high="nodes"),
        "branch": Form("i", ("nodes",), low=-1, high="blocks"),
        "side": Form("i", ("nodes",), low=0, high=2),
        "block_members": Form("i", ("members",), low=0, high="p"),
        "block_ends": Form("i", ("blocks",), low=1, ascending=True),
        "diagonal_members": Form("i", ("covered",), low=0, high="p"),
        "diagonal_ends": Form("i", ("diagonals",), low=1, ascending=True),
        "diagonal_values": Form("f", ("covered",), low=0.0, finite=True),
    },
    "state": {
        "outside": Form("u", ("words",)),
        "boxes": Form("f", ("shrunk", 3)),
        "clause_members": Form("i", ("required",), low=0, high="columns"),
        "clause_ends": Form("i", ("clauses",), low=1),
        "charges": Form("f", ("charges",), low=0.0, finite=True),
        "columns": Form("i", ("starting",), low=0, high="columns"),
        "beta": Form("f", ("starting",), finite=True),
        "intercept": Form("f", ("intercepts",), finite=True),
        "shares": Form("f", ("shares",), low=0.0, high=2.0, finite=True),
        "alpha": Form("f", ("slopes",), low=-1.0, high=2.0, finite=True),
        "near": Form("i", ("near",), low=0, high="columns"),
    },
    "node": {},
}
KINDS: dict[str, type] = {
    "search": _core.Snapshot,
    "incumbent": _core.Model,
    "tree": _core.Tree,
    "state": _core.State,
    "node": _core.Node,
}
COUNTS: dict[str, int | str] = {
    "search": 2,
    "incumbent": 2,
    "tree": 2,
    "state": "starts",
}  # starts of a list, one more than objects
FORMS = {
    f"{prefix}.{name}": form for kinds in (NUMBERS, LISTS) for prefix, fields in kinds.items() for name, form in fields.items()
}
FORMS |= {
    f"{prefix}.{name}.starts": Form("i", (COUNTS[prefix],), starts_of=f"{prefix}.{name}")
    for prefix, fields in LISTS.items()
    for name in fields
}
FORMS |= {
    "tree.row": Form("i", ("nodes",), low=-1),
    "tree.shares": Form("u", ("shared",)),
    "tree.precise": Form("f", ("precise",), low=0.0, high=2.0, finite=True),
    "tree.point_diagonal": Form("i", ("points",), low=-1, high="diagonals"),
    "tree.model_columns": Form("i", ("modelled",), low=0, high="p"),
    "tree.model_values": Form("f", ("modelled",), finite=True),
    "tree.model_ends": Form("i", ("points",), low=0),
    "tree.model_scale": Form("f", ("points",), low=0.0, high=2.0, finite=True),
    "tree.model_intercept": Form("f", ("model intercepts",), finite=True),
    "node.state": Form("i", ("open",), low=0, high="states"),
}

POINTS: dict[str, type] = {  # the arguments of Tree.set_points
    "row": np.int64,
    "shares": np.uint16,
    "precise": np.float64,
    "point_diagonal": np.int64,
    "model_scale": np.float64,
    "model_columns": np.int32,
    "model_values": np.float64,
    "model_ends": np.int64,
    "model_intercept": np.float64,
}


def put(out: Arrays, prefix: str, objects: Sequence[Any]) -> None:
    """Add the fields of some objects, all of one class, to the arrays."""
    empty = KINDS[prefix]()
    for name in NUMBERS[prefix]:
        out[f"{prefix}.{name}"] = np.array([getattr(each, name) for each in objects], dtype=type(getattr(empty, name)))
    for name in LISTS[prefix]:
        values = [getattr(each, name) for each in objects]
        out[f"{prefix}.{name}.starts"] = np.cumsum([0] + [len(value) for value in values])
        out[f"{prefix}.{name}"] = np.concatenate([getattr(empty, name), *values])


def take(arrays: Arrays, prefix: str, kind: type[T], count: int) -> list[T]:
    """Make objects of a class from their fields."""
    out = [kind() for _ in range(count)]
    for name in NUMBERS[prefix]:
        for each, value in zip(out, arrays[f"{prefix}.{name}"].tolist(), strict=True):
            setattr(each, name, value)
    for name in LISTS[prefix]:
        values = np.ascontiguousarray(arrays[f"{prefix}.{name}"], dtype=getattr(kind(), name).dtype)
        starts = arrays[f"{prefix}.{name}.starts"].tolist()
        for k, each in enumerate(out):
            setattr(each, name, values[starts[k] : starts[k + 1]])
    return out


def to_arrays(snapshot: _core.Snapshot) -> Arrays:
    """Return the content of a snapshot as named arrays."""
    out: Arrays = {}
    put(out, "search", [snapshot])
    put(out, "incumbent", [snapshot.incumbent])
    tree, nodes = snapshot.tree, snapshot.open
    put(out, "tree", [tree])
    out |= {f"tree.{name}": getattr(tree, name) for name in POINTS}
    # Both children of a node share the state of their parent, which is written once.
    of_node = [node.state for node in nodes]
    states = {id(state): state for state in of_node}
    places = {key: k for k, key in enumerate(states)}
    put(out, "state", list(states.values()))
    put(out, "node", nodes)
    out["node.state"] = np.array([places[id(state)] for state in of_node], dtype=np.int64)
    return out


def from_arrays(arrays: Arrays, n: int, p: int) -> _core.Snapshot:
    """Return the snapshot from which `to_arrays` made these arrays, of a search on n rows and p columns.

    What it claims of the problem is not checked here, only that nothing in it leads outside of the arrays.
    """
    left = arrays.get("search.columns", np.zeros(0))
    columns = left.size or p
    sizes = check_forms(arrays, FORMS, {"p": p, "columns": columns})
    check_together(arrays, sizes, n, columns)
    [snapshot] = take(arrays, "search", _core.Snapshot, 1)
    [snapshot.incumbent] = take(arrays, "incumbent", _core.Model, 1)
    [tree] = take(arrays, "tree", _core.Tree, 1)
    tree.set_points(*(np.ascontiguousarray(arrays[f"tree.{name}"], dtype) for name, dtype in POINTS.items()))
    snapshot.tree = tree
    states = take(arrays, "state", _core.State, sizes["states"])
    nodes = take(arrays, "node", _core.Node, sizes["open"])
    for node, place in zip(nodes, arrays["node.state"].tolist(), strict=True):
        node.state = states[place]
    snapshot.open = nodes
    return snapshot


def check_together(arrays: Arrays, sizes: dict[str, int], n: int, columns: int) -> None:
    """Check what concerns several arrays: lists that belong together, points of the tree, boxes."""
    lengths = {name: np.diff(arrays[f"state.{name}.starts"]) for name in LISTS["state"]}
    used, words = lengths["columns"], -(-columns // 64)
    good = {
        "the lists of its states": sizes["starts"] == sizes["states"] + 1 and np.array_equal(lengths["beta"], used),
        "the shares of its states": bool(((lengths["shares"] == 0) | (lengths["shares"] == used)).all()),
        "the dual points of its states": bool(np.isin(lengths["alpha"], (0, n)).all()),
        "the columns of its states": bool(np.isin(lengths["outside"], (0, words)).all()),
        "the clauses of its states": good_clauses(arrays, lengths),
        "the blocks of its tree": good_ends(arrays["tree.block_ends"], sizes["members"]),
        "the points of its tree": good_points(arrays, n, sizes["points"]),
        "the models of its points": good_ends(arrays["tree.model_ends"], sizes["modelled"]),
        "the diagonals of its tree": good_ends(arrays["tree.diagonal_ends"], sizes["covered"]),
        "the open nodes": len(np.unique(arrays["node.id"])) == sizes["open"],
        "the number of its boxes": sizes["boxes"] in (0, columns),
        "its boxes": good_boxes(arrays["search.boxes"]) and good_boxes(arrays["state.boxes"][:, 1:]),
        "the columns of its boxes": bool(np.isin(arrays["state.boxes"][:, 0], np.arange(columns)).all()),
        "its nodes": int(arrays["search.nodes_done"][0]) <= sizes["nodes"],
    }
    for what, fits in good.items():
        if not fits:
            raise Malformed(f"{what} do not fit together")


def good_clauses(arrays: Arrays, lengths: dict[str, NDArray[Any]]) -> bool:
    """Return whether each state has whole clauses, each with a member, and a charge for each of them or for none."""
    ends, starts = arrays["state.clause_ends"], arrays["state.clause_ends.starts"]
    lists = [ends[begin:end] for begin, end in pairwise(starts)]
    whole = all(
        (np.diff(each, prepend=0) > 0).all() and (each[-1] if len(each) else 0) == members
        for each, members in zip(lists, lengths["clause_members"], strict=True)
    )
    return whole and bool(((lengths["charges"] == 0) | (lengths["charges"] == lengths["clause_ends"])).all())


def good_points(arrays: Arrays, n: int, points: int) -> bool:
    """Return whether the rows count the points in the order of the nodes, and each has a model, or n entries of its own."""
    row, per_point = arrays["tree.row"], max(points, 1)
    shares, precise, intercepts = (len(arrays[f"tree.{name}"]) for name in ("shares", "precise", "model_intercept"))
    modelled = not shares and not precise and intercepts % per_point == 0 and (intercepts > 0) == (points > 0)
    own = not intercepts and {shares, precise} == {0, n * points}
    return np.array_equal(row[row >= 0], np.arange(points)) and (modelled or own)


def good_ends(ends: NDArray[Any], members: int) -> bool:
    """Return whether lists that are kept one after the other end one after the other, and the last with the members."""
    return bool((np.diff(ends) >= 0).all()) and (int(ends[-1]) if len(ends) else 0) == members


def good_boxes(boxes: NDArray[Any]) -> bool:
    """Return whether rows of low and high are intervals."""
    low, high = boxes[:, 0], boxes[:, 1]
    return bool(((low <= high) & (low < np.inf) & (high > -np.inf)).all())
