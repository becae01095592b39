"""Regions of a search tree with decisions by chance, for tests of bounds."""

import numpy as np

ANY = 1e6  # an upper bound that implies nothing


def draw_block(rng, problem, state):
    """Some undecided features outside of home that are in one clause, or in none; or a single feature."""
    undecided = ~state.inside & ~problem.home[state.index]
    places = np.flatnonzero(undecided & (state.clause[state.index] == rng.integers(-1, state.clauses)))
    if rng.random() < 0.3 or not len(places):
        places = np.flatnonzero(~state.inside)[:1]
    return state.index[rng.permutation(places)[: rng.integers(1, 4)]]


def nodes_of(rng, problem, fits):
    """The root and some nodes with decisions that leave a model: the state, the values of these models, and the decisions."""
    features = np.flatnonzero(problem.counted)
    for count in [0, *rng.integers(1, len(features) + 1, 8)]:
        state, sides = problem.root(), []
        for _ in range(count):
            block = draw_block(rng, problem, state)
            if not len(block):
                break
            sides.append((frozenset(block.tolist()), int(rng.random() < (0.75 if problem.home[block].any() else 0.5))))
            state = state.decide(block, sides[-1][1], problem.home)
            state = None if state is None else state.settle()
            if state is None:
                break
        models = [S for S in fits if all(bool(S & block) == side for block, side in sides)]
        values = {S: fits[S].value + problem.lambda_0 * len(S) for S in models}
        assert (state is None or problem.cap(state, ANY) is None) == (not values), sides
        if values:
            yield state, values, sides
