"""Bounds of families of columns: none is above the truth, and nothing better is cut off."""

from itertools import combinations

import numpy as np
import pytest

from ellzero.exact.verifier.arithmetic import Float64
from ellzero.exact.verifier.bounds import Stated
from ellzero.exact.verifier.data import Refused
from ellzero.exact.verifier.families import Families, FamilyForm, GramPoint
from ellzero.exact.verifier.losses import KNOWN


def table(seed, arithmetic=None):
    """A small one-hot table with a problem on it, and the attribute of each column."""
    rng = np.random.default_rng(seed)
    n, levels = int(rng.integers(12, 40)), rng.integers(2, 5, int(rng.integers(2, 4)))
    parts = [(rng.integers(0, each, n)[:, None] == np.arange(each)).astype(float) for each in levels]
    X = np.hstack(parts)
    if rng.random() < 0.5:
        X = np.column_stack((X, rng.standard_normal((n, 2))))
    spread = np.where(rng.random(X.shape[1]) < 0.3, 2.0, 1.0) if rng.random() < 0.5 else np.ones(X.shape[1])
    p, family = X.shape[1], np.append(np.repeat(np.arange(len(levels)), levels), np.arange(2) + len(levels))[: X.shape[1]]
    y = X @ rng.standard_normal(p) + 0.5 * rng.standard_normal(n) + rng.standard_normal()
    w = rng.random(n) + 0.2
    w /= w.sum()
    arithmetic = arithmetic or Float64()
    centred = bool(rng.random() < 0.7)
    largest = np.abs(X).max(axis=0)
    norm = np.where(np.ptp(X, axis=0) > 0, 1.0, 0.0 if centred else largest)
    problem = Stated(
        loss=KNOWN["squared_error"], lambda_0=arithmetic.number(float(rng.choice([0.0, 0.02]))),
        lambda_1=arithmetic.number(0.0),
        lambda_2=arithmetic.number(10.0 ** rng.uniform(-4, -1)), k=int(rng.integers(1, 5)), home=np.zeros(p, dtype=bool),
        fit_intercept=centred, X=X, y=y, w=w, spread=spread, norm=norm, counted=np.ones(p, dtype=bool),
        low=np.full(p, -np.inf), high=np.full(p, np.inf), arithmetic=arithmetic,
    )  # fmt: skip
    return rng, problem, family


def least_objective(problem, columns):
    """The least objective with these columns, without lambda_0, by least squares."""
    w, z = problem.w, problem.X[:, columns] / problem.spread[columns]
    root = np.sqrt(w)[:, None]
    design = np.hstack([z, np.ones((len(w), 1))]) if problem.fit_intercept else z
    ridge = np.sqrt(2 * float(problem.lambda_2)) * np.eye(len(columns), design.shape[1])
    stacked, target = np.vstack((design * root, ridge)), np.append(problem.y * root[:, 0], np.zeros(len(columns)))
    b = np.linalg.lstsq(stacked, target, rcond=None)[0] if stacked.shape[1] else np.zeros(0)
    return float(np.square(target - stacked @ b).sum()) / 2


def form_of(rng, problem, family, inside=()):
    """A form with curvature for every column, as large as it may be but for a few per cent."""
    equations = Families([], {}, frozenset()).equations(problem)
    live = np.flatnonzero(problem.norm > 0)
    gram = np.array(equations.gram[np.ix_(live, live)], dtype=float)
    lambda_2 = float(problem.lambda_2)
    ridge = 2 * lambda_2 * np.where(np.isin(live, inside), 0.9, 1 / 64)
    along = np.where(np.bincount(family)[family[live]] > 1, 1 / problem.spread[live] * problem.spread[live[0]], 0.0)
    along = np.where(rng.random() < 0.8, along, 0.0 * along)
    rest = np.where(rng.random(family.max() + 1) < 0.5, 0.0, rng.random(family.max() + 1))
    for scale in 0.8 ** np.arange(1, 60):
        masses = np.where(np.isin(live, inside), 0.0, scale * np.diag(gram))
        form = FamilyForm(live, masses, along, ridge, family[live], rest)
        try:
            Families([form], {}, frozenset()).check(0, problem)
        except Refused:
            continue
        return form
    raise AssertionError("no form was definite")


def region_of(rng, problem, free=0.6):
    """A region: its features, which of them are in, and how many more may come."""
    p = len(problem.counted)
    role = rng.choice(3, p, p=[0.15, free, 0.85 - free])
    while (role == 0).sum() > problem.k:
        role[rng.choice(np.flatnonzero(role == 0))] = 2
    index = np.flatnonzero(role < 2)
    return index, role[index] == 0, problem.k - int((role == 0).sum())


def supports(index, inside, room):
    """All supports of a region."""
    free, fixed = index[~inside], index[inside]
    for size in range(room + 1):
        for more in combinations(free.tolist(), size):
            yield np.sort(np.append(fixed, more).astype(int))


@pytest.mark.parametrize("seed", range(120))
def test_against_enumeration(seed):
    rng, problem, family = table(seed)
    index, inside, room = region_of(rng, problem)
    if not len(index):
        return
    form = form_of(rng, problem, family, index[inside] if rng.random() < 0.5 else ())
    values = {tuple(s): least_objective(problem, s) + problem.lambda_0 * len(s) for s in supports(index, inside, room)}
    truth = min(values.values())
    start = min(values, key=values.get)
    equations = Families([], {}, frozenset()).equations(problem)
    matrix = equations.gram[np.ix_(start, start)] + 2 * problem.lambda_2 * np.eye(len(start))
    best = np.linalg.solve(matrix, equations.cross[list(start)]) if start else np.zeros(0)
    for noise in (0.0, 0.1, 1.0):
        point = GramPoint(0, np.array(start, dtype=np.int64), best + noise * rng.standard_normal(len(start)))
        families = Families([form], {0: point}, frozenset())
        proved = families.prove(problem, point, index, inside, room)
        if proved is None:
            assert not np.isin(index[problem.norm[index] > 0], form.columns).all()
            return
        assert proved.bound <= truth + 1e-12, seed
        for at, j in enumerate(index.tolist()):
            if not inside[at]:
                with_j = min((v for s, v in values.items() if j in s), default=np.inf)
                without = min((v for s, v in values.items() if j not in s), default=np.inf)
                assert proved.with_in[at] <= with_j + 1e-12, (seed, j)
                assert proved.with_out[at] <= without + 1e-12, (seed, j)
    upper = truth + rng.choice([-1.0, 0.0, 1e-7, 0.1])
    least = families.enumerate(problem, index, inside, room, upper)
    if room <= 3:
        near = 1e-9 if upper >= truth else 1e-4
        assert truth - near * truth <= least <= truth + 1e-12, seed
