"""Many regions at once are as each of them alone: decisions, counts, bounds and boxes."""

import numpy as np
import pytest
from support.problems import LOSSES
from support.regions import ANY, Region, as_blocks, draw_block, joined
from support.tiny_problems import draw_points, tiny

from ellzero.exact.verifier.regions import Blocks, States


def some_regions(rng, problem):
    """The root and regions after some decisions, each with a further decision: a block, or None, and a side."""
    regions, decisions = [], []
    for count in [0, *rng.integers(1, 5, 11)]:
        region = Region.root(problem)
        for _ in range(count):
            block = draw_block(rng, problem, region)
            after = region.decide(block, int(rng.random() < 0.6)).settle() if len(block) else None
            region = after if after is not None else region
        block = draw_block(rng, problem, region)
        regions.append(region)
        decisions.append((block if len(block) and rng.random() < 0.9 else None, int(rng.random() < 0.6)))
    return regions, decisions


def parts_of(states):
    """The fields of each region that is left; clauses by their features, whatever their numbers are."""
    out = {}
    for node, part in states.split():
        clauses = sorted(part.index[part.clause == number].tolist() for number in range(len(part.blocks)))
        out[node] = [part.index.tolist(), part.inside.tolist(), part.low.tolist(), part.high.tolist(), clauses]
    return out


def alone(found):
    """The same of regions that were computed one by one, None for those in which nothing is left."""
    return {node: parts_of(region.states)[0] for node, region in enumerate(found) if region is not None}


@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_together_as_alone(seed, loss, swaps):
    rng, problem, fits = tiny(seed, loss, swaps)
    upper = float(np.median([fit.value + problem.lambda_0 * len(S) for S, fit in fits.items()]))
    alpha = draw_points(rng, problem, fits)
    regions, decisions = some_regions(rng, problem)
    with np.errstate(all="ignore"):
        states, blocks = joined(regions)
        assert parts_of(states) == alone(regions)
        # One more decision for each.
        lists = [np.zeros(1, np.int64) if block is None else block for block, _ in decisions]
        first = len(blocks.sizes)
        table = as_blocks([*np.split(blocks.members, np.cumsum(blocks.sizes)[:-1]), *lists])
        number = np.array([-1 if block is None else first + at for at, (block, _) in enumerate(decisions)])
        decided = states.decide(table, number, np.array([side for _, side in decisions]), problem.home)
        single = [
            region if block is None else region.decide(block, side)
            for region, (block, side) in zip(regions, decisions, strict=True)
        ]
        assert parts_of(decided) == alone(single)
        capped = problem.cap(decided, upper)
        single = [None if region is None else region.cap(upper) for region in single]
        assert parts_of(capped) == alone(single)
        if not len(capped.node):
            return
        points = list(problem.points_at(alpha[rng.integers(0, len(alpha), len(regions))].astype(float)))
        found, narrowed = problem.narrow(capped, [points[node] for node in capped.node], upper)
        single = [None if region is None else region.narrow(points[node], upper) for node, region in enumerate(single)]
        assert found.tolist() == [single[node][0] for node in capped.node]
        assert parts_of(narrowed) == alone([None if each is None else each[1] for each in single])


def test_some_regions_have_clauses_and_some_have_nothing_left():
    """Else the test above would prove little."""
    clauses = dead = 0
    for seed in range(6):
        rng, problem, _ = tiny(seed, "squared_error")
        regions, decisions = some_regions(rng, problem)
        clauses += sum(len(region.clauses) > 0 for region in regions)
        decided = (region.decide(*each) for region, each in zip(regions, decisions, strict=True) if each[0] is not None)
        dead += sum(each is None or each.cap(ANY) is None for each in decided)
    assert min(clauses, dead) > 5, (clauses, dead)


def test_blocks_are_sets():
    blocks = Blocks.of(np.array([5, 2, 5, 7, 1]), np.array([3, 2]))
    assert blocks.members.tolist() == [2, 5, 1, 7]
    assert blocks.sizes.tolist() == [2, 2]
    features, owner = blocks.listed(np.array([1, -1, 0, 0]))
    assert features.tolist() == [1, 7, 2, 5, 2, 5]
    assert owner.tolist() == [0, 0, 2, 2, 3, 3]


def test_a_part_takes_the_place_of_its_clause():
    """As in the example of docs/certificate.md, with a block that is larger than what is left of it."""
    problem = next(found for _, found, _ in (tiny(seed, "squared_error") for seed in range(9)) if found.counted[:4].sum() == 4)
    blocks = as_blocks([np.array([0, 1, 2]), np.array([0, 2]), np.array([2, 3])])
    states = States.join(np.zeros(1, np.int64), [problem.root()])
    states = states.decide(blocks, np.array([0]), np.array([1]), problem.home)
    assert states.index[states.clause == 0].tolist() == [0, 1, 2]
    part = states.decide(blocks, np.array([1]), np.array([1]), problem.home)
    assert part.blocks.tolist() == [1]
    assert part.index[part.clause == 0].tolist() == [0, 2]
    # A block that meets the clause in another way says nothing.
    across = states.decide(blocks, np.array([2]), np.array([1]), problem.home)
    assert across.blocks.tolist() == [0]
    np.testing.assert_array_equal(across.clause, states.clause)
