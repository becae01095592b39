"""Going on from a checkpoint: whatever a proof rests on is derived anew by the verifier, so that a file cannot lie.

The file's tree is replayed with its dual points. Leaves that are proved to hold nothing better than the solution are closed,
all others are open, whatever the file says. Its open nodes give hints: where their relaxations start, and regions, which are
taken if they hold all that the verifier leaves of the node, so that an honest search repeats what it would have done. The
objective of the solution is computed from the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.quoting import one_line
from ellzero.base.reading import Malformed
from ellzero.design.stored import RESIDENT_BYTES, StoredDesign
from ellzero.exact.assumed_bounds import assumed_bounds
from ellzero.exact.certificate import listed_models, tree_arrays
from ellzero.exact.checkpoint import KEPT
from ellzero.exact.incumbent import as_solution, null_model
from ellzero.exact.snapshot_file import POINTS
from ellzero.exact.solution import size_of
from ellzero.exact.verifier.data import Refused
from ellzero.exact.verifier.diagonals import Diagonals
from ellzero.exact.verifier.replay import replay
from ellzero.exact.verifier.tree import Leaf
from ellzero.problem.model import Model

if TYPE_CHECKING:
    from ellzero.exact.search import Search

Array = NDArray[np.float64]
Index = NDArray[np.int64]
FARTHEST = 1e6  # in the core's units, in which data are of the order of one
MOST_PER_PRICE = 2e6  # the inverse of the least price in the core's units, in which the largest is about one
TOLERANCE = 1e-9  # relative: claims of the file that are within it of what the verifier finds are kept, with all their digits


def resume(search: Search) -> None:
    """Let a search go on from its checkpoint: what is kept beside the tree, and the snapshot of the tree."""
    kept, saved = search.checkpoint.load()
    with search.checkpoint.explained():
        search.incumbent = null_model(search.problem, search.options.lambda_0)
        check_kept(search, kept)
        search.assume(kept["bound"], kept["free_bound"])
        search.searched, search.integral, search.iteration = kept["searched"], kept["integral"], kept["iteration"]
        search.open_tree()
        search.tree.restore(resumed(search, saved, waiting=search.integral is not None))


def check_kept(search: Search, kept: dict[str, Any]) -> None:
    """Refuse what cannot be that of a search with these options."""
    problem, options, start = search.problem, search.options, search.incumbent
    if kept.keys() != set(KEPT):
        raise Malformed("its memory has other entries")
    bound, free_bound = assumed_bounds(problem, options, start, search.growth)
    # Bounds that the first solution gave can be other than those of the null model, but not where none, or one, was asked for.
    if isinstance(options.bound, str) and is_positive(kept["bound"]):
        bound = kept["bound"]
    if free_bound is not None and is_positive(kept["free_bound"]):
        free_bound = max(free_bound, kept["free_bound"])
    if (kept["bound"], kept["free_bound"]) != (bound, free_bound):
        raise Malformed("its assumed bounds are not those of this search")
    iga, every = options.method == "iga", np.arange(problem.design.shape[1], dtype=np.int32)
    paying, integral, iteration = set(problem.penalty.paying(every).tolist()), kept["integral"], kept["iteration"]
    listed = integral if isinstance(integral, list) else []
    good = integral is None or (isinstance(integral, list) and iga)
    if not good or not all(type(j) is int and j in paying for j in listed) or sorted(set(listed)) != listed:
        raise Malformed("its set of features is none of this search")
    if type(iteration) is not int or iteration < int(iga) or (iteration > 0) != iga:
        raise Malformed("its iteration is none of this search")
    if type(kept["searched"]) is not bool:
        raise Malformed("it does not say what was searched")


def is_positive(value: Any) -> bool:
    """Return whether a value of a file is a positive number."""
    return type(value) in (int, float) and value > 0


def resumed(run: Search, saved: _core.Snapshot, waiting: bool) -> _core.Snapshot:
    """Return the snapshot that a search may go on from; nodes may wait only if that is said."""
    incumbent, model = solution_of(run, saved.incumbent)
    calm_starts(run, saved)
    # Supports that were listed are open leaves again: the search finds them once more.
    listed = listed_models([], {}, run.problem.outputs) if run.options.wanted.all else {}
    certificate = run.certificate(model, 0.0, "interrupted", {**tree_arrays(saved.tree, run.problem), **listed})
    try:
        with np.errstate(all="ignore"):  # numbers that overflow prove nothing
            level, leaves, diagonals = replay(certificate, run.problem.design.stored(), run.problem.labels)
            frontier = Frontier(run, saved, level, waiting, diagonals)
            for leaf in leaves:
                frontier.add(leaf)
            out = frontier.snapshot()
    except (Refused, OverflowError) as refusal:
        raise Malformed(one_line(refusal)) from None
    out.incumbent = incumbent
    return out


def calm_starts(run: Search, saved: _core.Snapshot) -> None:
    """Move the starts of relaxations, which may be anywhere, to where the core's steps are sure to lead back."""
    # A multiplier is what one more feature would gain: never more than there is to gain.
    most = run.incumbent.objective / run.problem.units.cost * (1.0 if run.options.budget is None else MOST_PER_PRICE)
    for state in {id(node.state): node.state for node in saved.open}.values():
        state.mu = min(state.mu, most)
        state.charges = np.minimum(state.charges, most)
        state.intercept = np.clip(state.intercept, -FARTHEST, FARTHEST)
        state.beta = np.clip(state.beta, -FARTHEST, FARTHEST)


def solution_of(run: Search, saved: _core.Model) -> tuple[_core.Model, Model]:
    """Return the solution for the core and for the user, evaluated from the data."""
    model = run.model(saved)
    if not np.isfinite(model.objective) or not run.options.allows(model, run.problem):
        raise Malformed("its solution is none of this problem")
    computed = as_solution(run.boxed, model)
    same = np.array_equal(computed.support, saved.support) and np.allclose(computed.beta, saved.beta, rtol=1e-12, atol=0.0)
    if same and abs(saved.cost - computed.cost) <= TOLERANCE * abs(computed.cost):
        return saved, model
    return computed, model


@dataclass(frozen=True)
class Region:
    """A region that the verifier derived: its clauses, the columns of X that may be used, and their boxes."""

    clauses: list[Index]  # at least one feature of each is in; one that is in makes a clause of its own
    columns: Index
    low: Array
    high: Array


@dataclass(frozen=True)
class Opened:
    """An open node: what is proved of it, and its node in the file, if there is one; a region of its own if that has none."""

    node: int
    bound: float
    hint: _core.Node | None
    region: Region | None


@dataclass
class Frontier:
    """The open nodes of a replayed tree, in the core's units."""

    run: Search
    saved: _core.Snapshot
    top: float  # the level of interest: the objective, or that up to which models are wanted
    waiting: bool
    diagonals: Diagonals | None
    opened: dict[int, Opened] = field(default_factory=dict)
    closed: float = np.inf

    def __post_init__(self) -> None:
        # Of several outputs, the core's columns are atoms, and so are those of the verifier's regions.
        problem, outputs = self.run.problem, self.run.problem.outputs
        columns, square = problem.design.shape[1], np.repeat(problem.square, outputs)
        p, penalty = columns * outputs, problem.penalty.of_atoms(outputs)
        self.unit, self.cost = problem.units.coefficient, problem.units.cost
        size = size_of(self.top, problem.null)
        self.level = self.top - (self.run.options.gap + TOLERANCE) * size
        self.counted = ~penalty.unpenalized
        # States hold boxes in a unit of each column: the power of two next to its size, as `Region::unit` of the core has it.
        exponents = np.trunc((np.frexp(square)[1] - 1) / 2.0).astype(np.int64)
        self.box_units = np.where(square > 0.0, np.ldexp(1.0, exponents), 1.0)
        self.hints = {node.id: node for node in self.saved.open}
        tree = self.saved.tree
        self.parent, self.branch, self.side, self.row = (
            getattr(tree, name).astype(np.int64) for name in ("parent", "branch", "side", "row")
        )
        self.blocks = lists_of(tree.block_members, tree.block_ends)
        self.columns: Index = self.saved.columns.astype(np.int64) if len(self.saved.columns) else np.arange(p)
        self.heads: Index = penalty.heads.astype(np.int64)
        self.check_groups()
        self.low, self.high = self.own_boxes()
        # The least and largest coefficients that the open nodes leave to each column.
        self.lowest, self.highest = np.full(p, np.inf), np.full(p, -np.inf)
        boxes = self.saved.boxes
        self.root = boxes if len(boxes) else np.stack([self.low, self.high], axis=1)[self.columns]

    def check_groups(self) -> None:
        """Refuse columns that are a part of a group; what is priced first, and decided, are features."""
        known = np.zeros(len(self.heads), dtype=bool)
        known[self.columns] = True
        if (known != known[self.heads]).any():
            raise Malformed("its columns are not whole groups")
        for state in {id(node.state): node.state for node in self.saved.open}.values():
            state.near = state.near[self.is_head(self.columns[state.near])]

    def is_head(self, columns: Index) -> NDArray[np.bool_]:
        """Return which columns of X are the first of their groups."""
        return np.asarray(self.heads[columns] == columns)

    def own_boxes(self) -> tuple[Array, Array]:
        """Return the boxes that the problem itself gives to the core."""
        problem, bound = self.run.boxed, self.run.free_bound
        penalty = problem.units.core_penalty().of_atoms(problem.outputs)
        low, high = penalty.lower, penalty.upper
        if bound is not None:
            free = ~self.counted
            low[free], high[free] = np.maximum(low[free], -bound / self.unit), np.minimum(high[free], bound / self.unit)
        return low, high

    def add(self, leaf: Leaf) -> None:
        """Take a leaf of the tree: count its bound if it is closed, otherwise keep it as open."""
        hint = None if leaf.solved else self.hints.get(leaf.node)
        bound, state = float(leaf.bound) / self.cost, leaf.state
        if hint is None and leaf.bound >= self.level:
            self.closed = min(self.closed, bound)
            return
        if state is None:  # nothing is left there: the search will find that too
            assert hint is not None
            if self.usable(hint):
                self.opened[leaf.node] = Opened(leaf.node, bound, hint, None)
            return
        index, clause = state.index, state.clause
        clauses = [index[[at]] for at in np.flatnonzero(state.inside & self.counted[index])]
        clauses += [index[clause == number] for number in range(len(state.blocks))]
        low, high = (np.asarray(side, dtype=np.float64) / self.unit for side in (state.low, state.high))
        at = state.columns
        low, high = np.maximum(low, self.low[at]), np.minimum(high, self.high[at])
        region = Region(clauses, at, low, high)
        self.lowest[at], self.highest[at] = np.minimum(self.lowest[at], low), np.maximum(self.highest[at], high)
        fits = hint is not None and self.usable(hint) and self.holds(hint.state, region)
        self.opened[leaf.node] = Opened(leaf.node, bound, hint, None if fits else region)

    def usable(self, hint: _core.Node) -> bool:
        """Return whether the decisions of a node of the file are decisions: no feature is in two clauses, or in and out."""
        members, block = self.columns[hint.state.clause_members], self.block_of(hint.id)
        alone = np.concatenate([np.zeros(0, np.int64), *(each for each in clauses_of(hint.state) if len(each) == 1)])
        different = len(np.unique(members)) == len(members) and not np.isin(self.columns[alone], block).any()
        decidable = self.counted[members].all() and self.is_head(members).all()
        return bool(different and np.isin(block, self.columns).all() and decidable)

    def block_of(self, node: int) -> Index:
        """Return the block that a node decides, empty if it decides none."""
        return self.blocks[self.branch[node]] if self.branch[node] >= 0 else np.zeros(0, np.int64)

    def holds(self, state: _core.State, region: Region) -> bool:
        """Return whether the region of a state of the file holds all of the verifier's."""
        known = self.columns
        if not np.isin(region.columns, known).all():
            return False
        at = np.searchsorted(known, region.columns)
        # A clause follows from any that is a part of it.
        follows = (any(np.isin(part, known[clause]).all() for part in region.clauses) for clause in clauses_of(state))
        if not all(follows) or out_of(state, len(known))[at].any():
            return False
        boxes = state.boxes
        named = boxes[:, 0].astype(np.int64)
        ends = boxes[:, 1:] / self.box_units[known[named], None]
        place = np.full(len(known), -1)
        place[at] = np.arange(len(at))
        listed = place[named] >= 0
        here = place[named][listed]
        return bool(wide_enough(ends[listed, 0], ends[listed, 1], region.low[here], region.high[here]).all())

    def snapshot(self) -> _core.Snapshot:
        """Return the snapshot with these open nodes."""
        columns = self.columns_left()
        first = len(columns) == len(self.columns)  # the numbering of the file
        out = _core.Snapshot()
        out.columns = columns.astype(np.int32) if len(columns) < len(self.low) else np.zeros(0, dtype=np.int32)
        out.boxes = self.boxes_of(columns)
        nodes, depths = [], depths_of(self.parent, self.branch)
        order = [node for node in self.hints if node in self.opened]
        order += [node for node in self.opened if node not in self.hints]
        parents = self.parent.tolist()
        for opened in map(self.opened.__getitem__, order):
            node = opened.hint if opened.hint is not None else _core.Node()
            node.id, node.depth = opened.node, int(depths[opened.node])
            node.bound = opened.bound if opened.hint is None else believed(node.bound, opened.bound)
            block = np.zeros(0, np.int64)
            if opened.region is not None:
                node.state = state_of(opened, columns, self.columns)
            else:
                node.state = node.state if first else moved_state(node.state, self.columns, columns)
                block = self.block_of(opened.node)
            node.block, node.inside = (
                np.searchsorted(columns, block).astype(np.int32),
                bool(len(block) and self.side[opened.node]),
            )
            node.waits = node.waits and self.waiting and len(node.state.shares) == len(node.state.columns)
            if self.row[opened.node] >= 0:  # its dual point stays: the search goes on below it
                node.id = len(parents)
                parents.append(opened.node)
            nodes.append(node)
        for node in nodes:
            self.drop_unproved_diagonal(node.state, columns)
        more = len(parents) - len(self.parent)
        out.tree = self.longer_tree(np.array(parents, dtype=np.int64), more)
        out.open = nodes
        out.rooted = len(parents) > 1 or self.row[0] >= 0
        # All closed leaves are at the level or above it, also those that were closed when it was higher.
        out.closed = believed(max(self.saved.closed, self.level / self.cost), self.closed)
        out.nodes_done, out.picks = self.saved.nodes_done, self.saved.picks
        return out

    def drop_unproved_diagonal(self, state: _core.State, columns: Index) -> None:
        """Let a state forget its diagonal unless the verifier has proved it, for all columns that are left."""
        if state.diagonal < 0:
            return
        alive = columns[~out_of(state, len(columns))]
        alive = alive[self.run.problem.square[alive] > 0.0]
        known = self.diagonals is not None and self.diagonals.definite.get(state.diagonal, False)
        if self.diagonals is None or not known or not np.isin(alive, self.diagonals.columns[state.diagonal]).all():
            state.diagonal, state.tried = -1, 0

    def columns_left(self) -> Index:
        """Return the columns that the search goes on with: those of the file and all that an open node needs, or all of X."""
        p = len(self.low)
        if len(self.columns) == p:
            return self.columns
        kept = np.union1d(self.columns, np.flatnonzero(self.lowest <= self.highest))
        design = self.run.problem.design
        entries = len(kept) // self.run.problem.outputs * design.shape[0]
        too_large = isinstance(design, StoredDesign) and entries * design.store.dtype.itemsize > RESIDENT_BYTES
        return np.arange(p) if 2 * len(kept) > p or too_large else kept

    def boxes_of(self, columns: Index) -> Array:
        """Return the boxes of the root for these columns, wide enough for all open nodes."""
        low, high = self.low.copy(), self.high.copy()
        low[self.columns], high[self.columns] = self.root[:, 0], self.root[:, 1]
        narrow = ~wide_enough(low, high, self.lowest, self.highest)
        low[narrow], high[narrow] = np.minimum(low, self.lowest)[narrow], np.maximum(high, self.highest)[narrow]
        return np.ascontiguousarray(np.stack([low, high], axis=1)[columns])

    def longer_tree(self, parent: Index, more: int) -> _core.Tree:
        """Return the tree with so many more nodes at its end, which decide nothing and have no dual point."""
        tree = self.saved.tree
        if more:
            saved, tree = tree, _core.Tree()
            tree.parent = parent
            tree.branch = np.concatenate([self.branch, np.full(more, -1)])
            for name in ("block_members", "block_ends", "diagonal_members", "diagonal_ends", "diagonal_values"):
                setattr(tree, name, getattr(saved, name))
            tree.side = np.concatenate([self.side, np.zeros(more, dtype=np.int64)]).astype(np.int8)
            row = np.concatenate([self.row, np.full(more, -1)])
            tree.set_points(row, *(getattr(saved, name) for name in POINTS if name != "row"))
        return tree


def believed(claimed: float, found: float) -> float:
    """Return the bound of the file if it is not above that of the verifier, but for rounding; otherwise the verifier's."""
    return claimed if claimed <= found + TOLERANCE * abs(found) else found


def wide_enough(low: Array, high: Array, lowest: Array, highest: Array) -> NDArray[np.bool_]:
    """Return for each box whether it holds what it must, up to rounding."""
    below, above = low - TOLERANCE * (1.0 + np.abs(low)), high + TOLERANCE * (1.0 + np.abs(high))
    return (lowest > highest) | (~(below > lowest) & ~(above < highest))


def lists_of(members: NDArray[Any], ends: Index) -> list[Index]:
    """Return lists of columns that are kept one after the other."""
    return np.split(members.astype(np.int64), ends[:-1]) if len(ends) else []


def clauses_of(state: _core.State) -> list[Index]:
    """Return the clauses of a state, in the numbers of its columns."""
    return lists_of(state.clause_members, state.clause_ends)


def out_of(state: _core.State, columns: int) -> NDArray[np.bool_]:
    """Return which columns are out in a state: column j is bit j % 64 of word j / 64."""
    words = state.outside
    if not len(words):
        return np.zeros(columns, dtype=bool)
    return np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")[:columns].astype(bool)


def bit_words(mask: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return a set of columns as a state holds it: the inverse of `out_of`."""
    padded = np.zeros(-(-len(mask) // 64) * 64, dtype=bool)
    padded[: len(mask)] = mask
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)


def start_of(state: _core.State | None, old: Index, new: Index) -> _core.State:
    """Return a state without a region, whose relaxation starts where that of another does; columns get new numbers."""
    out = _core.State()
    if state is not None:
        for name in ("intercept", "mu", "beta", "shares", "alpha", "diagonal", "tried"):
            setattr(out, name, getattr(state, name))
        for name in ("columns", "near"):
            setattr(out, name, np.searchsorted(new, old[getattr(state, name)]).astype(np.int32))
    return out


def state_of(opened: Opened, columns: Index, old: Index) -> _core.State:
    """Return a state with the region that the verifier derived."""
    assert opened.region is not None
    region = opened.region
    out = start_of(None if opened.hint is None else opened.hint.state, old, columns)
    place = np.searchsorted(columns, region.columns)
    left_out = np.ones(len(columns), dtype=bool)
    left_out[place] = False
    out.outside = bit_words(left_out)
    members = np.concatenate([np.zeros(0, np.int64), *region.clauses])
    out.clause_members = np.searchsorted(columns, members).astype(np.int32)
    out.clause_ends = np.cumsum([len(clause) for clause in region.clauses], dtype=np.int64)
    return out  # without boxes of its own: those of the root hold it, and narrower ones follow again


def moved_state(state: _core.State, old: Index, new: Index) -> _core.State:
    """Return a state of the file with other numbers for its columns; those that it did not know are out."""
    out = start_of(state, old, new)
    place = np.searchsorted(new, old)
    left_out = np.ones(len(new), dtype=bool)
    left_out[place] = out_of(state, len(old))
    out.outside = bit_words(left_out)
    out.clause_members = place[state.clause_members].astype(np.int32)
    out.clause_ends, out.charges = state.clause_ends, state.charges
    boxes = state.boxes.copy()
    boxes[:, 0] = place[boxes[:, 0].astype(np.int64)]
    out.boxes = boxes
    return out


def depths_of(parent: Index, branch: Index) -> list[int]:
    """Return the number of decisions above and at each node."""
    out: list[int] = []
    for above, decision in zip(parent.tolist(), branch.tolist(), strict=True):
        out.append((out[above] if above >= 0 else 0) + (decision >= 0))
    return out
