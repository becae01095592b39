"""What the tree of a certificate proves of each of its leaves: more than a verdict, for searches that go on from a tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ellzero.exact.verifier.arithmetic import Float64
from ellzero.exact.verifier.claims import check_arrays, hold, level_of, read_claims, read_problem, read_solution, read_tree
from ellzero.exact.verifier.diagonals import Diagonals
from ellzero.exact.verifier.tree import Leaf


def replay(certificate: Any, X: object, y: object) -> tuple[float, Iterator[Leaf], Diagonals | None]:
    """Return the level of interest, the leaves, each with the bound and the region that the verifier derives, and the
    diagonals, of which it says which are proved once all leaves are there.

    The level is the objective of the solution or, of alternatives, their threshold. With several outputs, the columns of a
    region are those of the larger matrix (see `Stated`).

    The claims of the certificate about its own bounds and status are not used. `Refused` is raised as in `verify`, also by the
    iterator.
    """
    header, arrays = read_claims(certificate)
    arrays = check_arrays(header, arrays)
    problem = read_problem(header, arrays, X, y, Float64())
    objective = problem.evaluate(*read_solution(header, arrays, problem))
    level = level_of(header, objective, problem.arithmetic)
    problem = hold(arrays, problem, level)
    tree = read_tree(arrays, problem)
    shown = objective.value if level is objective.upper else level
    return float(shown), tree.leaves(problem, level), tree.diagonals
