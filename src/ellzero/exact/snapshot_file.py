"""Turn a snapshot of the core's search into named arrays, and back.

A list of objects becomes one array for each of their fields, named ``prefix.field``. Fields that are arrays of different
lengths are joined, and ``prefix.field.starts`` says where each begins. The fields are read from the bound classes: a new
field of a node needs no change here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ellzero import _core

__all__ = ["from_arrays", "to_arrays"]

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]


def fields_of(kind: type) -> list[str]:
    """Return the names of the fields of a bound class that can be read and written."""
    return [name for name, value in vars(kind).items() if isinstance(value, property) and value.fset is not None]


def put(out: Arrays, prefix: str, objects: Sequence[Any], without: Sequence[str] = ()) -> None:
    """Add the fields of some objects, all of one class, to the arrays."""
    if not objects:
        return
    for name in fields_of(type(objects[0])):
        if name in without:
            continue
        values = [getattr(each, name) for each in objects]
        if isinstance(values[0], np.ndarray):
            out[f"{prefix}.{name}.starts"] = np.cumsum([0] + [len(value) for value in values])
            out[f"{prefix}.{name}"] = np.concatenate(values)
        else:
            out[f"{prefix}.{name}"] = np.array(values)


def take(arrays: Arrays, prefix: str, kind: type[T], count: int, without: Sequence[str] = ()) -> list[T]:
    """Make objects of a class from their fields."""
    out = [kind() for _ in range(count)]
    for name in fields_of(kind) if count else ():
        if name in without:
            continue
        values = arrays[f"{prefix}.{name}"]
        starts = arrays.get(f"{prefix}.{name}.starts")
        for k, each in enumerate(out):
            setattr(each, name, values[k].item() if starts is None else values[starts[k] : starts[k + 1]])
    return out


def to_arrays(snapshot: _core.Snapshot) -> Arrays:
    """Return the content of a snapshot as named arrays."""
    out: Arrays = {}
    put(out, "search", [snapshot], without=("incumbent", "tree", "open"))
    put(out, "incumbent", [snapshot.incumbent])
    tree = snapshot.tree
    put(out, "tree", [tree])
    out |= {"tree.row": tree.row, "tree.alpha": tree.alpha}
    nodes = snapshot.open
    # Both children of a node share the state of their parent, which is written once.
    of_node = [node.state for node in nodes]
    states = {id(state): state for state in of_node}
    places = {key: k for k, key in enumerate(states)}
    put(out, "state", list(states.values()))
    put(out, "node", nodes, without=("state",))
    out["node.state"] = np.array([places[id(state)] for state in of_node], dtype=np.int64)
    return out


def from_arrays(arrays: Arrays) -> _core.Snapshot:
    """Return the snapshot from which `to_arrays` made these arrays."""
    [snapshot] = take(arrays, "search", _core.Snapshot, 1, without=("incumbent", "tree", "open"))
    [snapshot.incumbent] = take(arrays, "incumbent", _core.Model, 1)
    [tree] = take(arrays, "tree", _core.Tree, 1)
    tree.set_points(arrays["tree.row"], arrays["tree.alpha"])
    snapshot.tree = tree
    of_node = arrays["node.state"].tolist()
    states = take(arrays, "state", _core.State, max(of_node, default=-1) + 1)
    nodes = take(arrays, "node", _core.Node, len(of_node), without=("state",))
    for node, place in zip(nodes, of_node, strict=True):
        node.state = states[place]
    snapshot.open = nodes
    return snapshot
