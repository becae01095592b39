"""What the tree of a certificate proves of each of its leaves: more than a verdict, for searches that go on from a tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ellzero.exact.verifier.arithmetic import Float64
from ellzero.exact.verifier.claims import check_arrays, hold, load, read_problem, read_solution, read_tree
from ellzero.exact.verifier.diagonals import Diagonals
from ellzero.exact.verifier.tree import Leaf

__all__ = ["replay"]


def replay(certificate: Any, X: object, y: object) -> tuple[float, Iterator[Leaf], Diagonals | None]:
    """Return the objective of the solution, the leaves, each with the bound and the region that the verifier derives, and the
    diagonals, of which it says which are proved once all leaves are there.

    The claims of the certificate about its own bounds and status are not used. `Refused` is raised as in `verify`, also by the
    iterator.
    """
    header, arrays = load(certificate)
    arrays = check_arrays(header, arrays)
    problem = read_problem(header, arrays, X, y, Float64())
    objective = problem.evaluate(*read_solution(header, arrays, problem))
    problem = hold(arrays, problem, objective.upper)
    tree = read_tree(arrays, problem)
    return float(objective.value), tree.leaves(problem, objective.upper), tree.diagonals
