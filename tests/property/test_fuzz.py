"""A fixed part of the fuzzer, in this process: seeds that never change, so that a failure can be run again.

`python -m fuzz --only SUBJECT --seed SEED --cases 1` repeats a case, and `python -m fuzz.minimising` makes it small.
"""

import math

import numpy as np
import pytest
from support.fuzzing import FIRST, SHARE, findings

from fuzz.problems.drawing import draw_problem
from fuzz.referee.best import best_model, convex_fit
from fuzz.referee.objectives import LongProblem
from fuzz.subjects.all import SUBJECTS, draw_case, judge

CASES = {"solve": 40, "path": 50, "improve": 20, "sizes": 20, "certify": 12, "estimator": 15, "objective": 20}
FEW = 6  # of the other subjects


@pytest.fixture(autouse=True)
def repeat_proofs_exactly():
    """Leave exact arithmetic to `fuzz.margins`: here are too many certificates for it."""


@pytest.mark.parametrize("subject", SUBJECTS)
def test_nothing_is_found(subject):
    found = []
    for seed in range(FIRST, FIRST + math.ceil(SHARE * CASES.get(subject, FEW))):
        found += findings(judge(draw_case(seed, subject)))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("subject", "seed"),
    [
        ("solve", 459378439),  # means of 500,000 spreads: the claim was above what the verifier proves
        ("objective", 362700500),  # a coefficient whose standardised value is below float64 counts, too
        ("alike", 11010226),  # a singular system in the referee
    ],
)
def test_what_long_runs_found(subject, seed):
    assert not findings(judge(draw_case(seed, subject)))


def test_cases_are_drawn_from_their_seed_alone():
    one, two = (draw_case(FIRST + 3, "solve") for _ in range(2))
    np.testing.assert_array_equal(one.problem.X, two.problem.X)
    assert one.options == two.options
    assert draw_case(FIRST + 4, "solve").options != one.options or not np.array_equal(
        draw_case(FIRST + 4).problem.X, one.problem.X
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_referee_is_no_worse_than_any_model(seed):
    """Brute force must find at least what a look at random models finds, or false bounds would go unnoticed."""
    rng = np.random.default_rng(seed)
    problem = draw_problem(rng, largest_p=4)
    long = LongProblem(problem)
    best = best_model(problem, long)
    for support in ([], [0], list(range(problem.X.shape[1]))):
        if problem.k is None or np.count_nonzero(long.counted[support]) <= problem.k:
            other = convex_fit(problem, np.array(support, dtype=np.int64), long)
            assert best.value <= other.value * (1 + 1e-9) + 1e-9 * long.value(np.zeros(len(long.counted)), 0.0), seed


def test_a_false_bound_is_found():
    """A referee that finds nothing would be a defect: with a bound that is too high, it must speak."""
    from fuzz.records import Record
    from fuzz.subjects.judging import Referee, check_bound

    problem = draw_problem(np.random.default_rng(1), largest_p=4)
    referee, record = Referee(problem), Record("solve", 1)
    value = float(referee.best().value)
    check_bound(record, referee, "as it is", value)
    assert not record.findings
    check_bound(record, referee, "too high", value * 1.001)
    assert [finding.kind for finding in record.findings] == ["false bound"]
