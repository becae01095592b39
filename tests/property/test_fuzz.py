"""A fixed part of the fuzzer, in this process: seeds that never change, so that a failure can be run again.

`python -m fuzz --only SUBJECT --seed SEED --cases 1` repeats a case, and `python -m fuzz.minimising` makes it small.
"""

import math

import numpy as np
import pytest
from support.fuzzing import FIRST, SHARE, findings

from fuzz.problems.drawing import draw_problem
from fuzz.problems.problem import LOSSES
from fuzz.problems.structure import PARTS
from fuzz.referee.best import best_model, convex_fit
from fuzz.referee.objectives import CURVATURE, LongProblem
from fuzz.referee.stationarity import certain_decrease
from fuzz.subjects.all import SUBJECTS, draw_case, judge

CASES = {"solve": 40, "path": 50, "improve": 20, "sizes": 20, "certify": 12, "estimator": 15, "objective": 20}
CASES |= {"structured solve": 30, "structured path": 30, "budgets": 15, "structured objective": 20}
FEW = 6  # of the other subjects


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
        ("structured path", 5037),  # a feature that separates a target was kept out by the Hessian of an earlier trial
        ("structured solve", 20437),  # means far from zero, whose rounding the bounds of several outputs did not count
        ("structured solve", 20493),  # a first model far outside an assumed bound
        ("structured solve", 20159),  # prices of a sparse X without entries
        ("structured sizes", 20012),  # several outputs, and a norm that leaves no feature
        ("budgets", 20219),  # equal prices that are a power of two
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


@pytest.mark.parametrize("parts", [(), PARTS], ids=["plain", "structured"])
@pytest.mark.parametrize("seed", range(40))
def test_the_referee_is_no_worse_than_any_model(seed, parts):
    """Brute force must find at least what a look at random models finds, or false bounds would go unnoticed."""
    rng = np.random.default_rng(seed)
    problem = draw_problem(rng, largest_p=4, parts=parts)
    long = LongProblem(problem)
    best = best_model(problem, long)
    for support in ([], [0], list(range(problem.X.shape[1]))):
        chosen = np.isin(np.arange(problem.X.shape[1]), support)
        if long.allowed((chosen & long.members).any(1)):
            other = convex_fit(problem, np.array(support, dtype=np.int64), long)
            assert best.value <= other.value * (1 + 1e-9) + 1e-9 * long.value(np.zeros(problem.coef_shape), 0.0), seed


def test_the_referee_knows_when_a_step_helps():
    """What it says a step lowers, some model is lower by; and nothing helps at a model that is the best one."""
    helped = 0
    for seed in range(30):
        problem = draw_problem(np.random.default_rng(seed), largest_p=4, parts=PARTS)
        if problem.loss not in CURVATURE:
            continue
        problem = problem.but(k=None, budget=None, lambda_0=0.0)
        long, (coef, intercept) = LongProblem(problem), best_model(problem).plain()
        zero = np.clip(np.zeros(problem.coef_shape), long.low.astype(float), long.high.astype(float))
        with np.errstate(all="ignore"):
            best, start = long.value(coef, intercept), long.value(zero, 0.0)
            decrease = certain_decrease(long, zero, 0.0)
            assert start - decrease >= best * (1 - 1e-6) - 1e-9 * start, seed
            assert certain_decrease(long, coef, intercept) <= 1e-4 * start, seed
        helped += decrease > 1e-3 * start
    assert helped > 10


def test_cases_have_all_that_is_drawn():
    drawn = [draw_problem(np.random.default_rng(seed), parts=PARTS) for seed in range(150)]
    assert {problem.loss for problem in drawn} == {*LOSSES, "multinomial"}
    assert {problem.outputs for problem in drawn} >= {1, 2, 3, 8, 12}
    assert sum(problem.groups is not None for problem in drawn) > 50
    assert sum(problem.budget is not None for problem in drawn) > 20
    assert any(problem.feature_cost is not None and not problem.feature_cost.all() for problem in drawn)
    assert any(problem.outputs < len(np.unique(problem.y)) for problem in drawn if problem.loss == "multinomial")


@pytest.mark.parametrize("parts", [(), PARTS], ids=["plain", "structured"])
def test_a_false_bound_is_found(parts):
    """A referee that finds nothing would be a defect: with a bound that is too high, it must speak."""
    from fuzz.records import Record
    from fuzz.subjects.judging import Referee, check_bound

    problem = draw_problem(np.random.default_rng(1), largest_p=4, parts=parts)
    referee, record = Referee(problem), Record("solve", 1)
    value = float(referee.best().value)
    check_bound(record, referee, "as it is", value)
    assert not record.findings
    check_bound(record, referee, "too high", value * 1.001)
    assert [finding.kind for finding in record.findings] == ["false bound"]
