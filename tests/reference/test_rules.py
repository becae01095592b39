"""Models under rules, against enumeration: they obey, always, and are the best there are.

ELLZERO_RULED says how many random problems are proved; `benchmarks/rules.py` has it at 600.
"""

import os
from dataclasses import replace

import numpy as np
import pytest
from support.rules import draw

import ellzero as ez
from fuzz.certificates.sealed import Draft

ACCURATE = 1e-6
PROVED = int(os.environ.get("ELLZERO_RULED", "40"))


def local_search(ruled):
    """The best model that local search finds, and its objective; None where no function takes the limits."""
    settings, values = ruled.settings, ruled.values()
    k, lambda_0, budget = settings.pop("k", None), settings.pop("lambda_0"), settings.pop("budget", None)
    X, y = ruled.case.X, ruled.case.y
    del settings["bound"]
    if budget is not None:
        return None if lambda_0 else ez.fit_budgets(X, y, [budget], **settings)[budget]
    if k is None or (lambda_0 and "feature_cost" in settings):
        return ez.fit_path(X, y, lambda_0=lambda_0, algorithm="local_search", max_support=k, **settings)[0]
    least = min(np.count_nonzero(ruled.prices[list(mask)]) for mask in values)
    models = ez.fit_sizes(X, y, range(least, k + 1), **settings)
    return min(models, key=lambda model: model.objective_at(lambda_0))


def test_local_search_obeys_and_is_hardly_ever_worse_than_enumeration():
    found, missed = 0, []
    for seed in range(60):
        ruled = draw(seed)
        if (model := local_search(ruled)) is None:
            continue
        assert ruled.obeys(ruled.used(model.support)), ruled.words
        if ruled.case.settings["bound"] is None:
            best = min(ruled.values().values())
            value = model.objective_at(ruled.case.settings["lambda_0"])
            assert value >= best * (1.0 - ACCURATE), ruled.words
            found += 1
            if value > best * (1.0 + 1e-4):
                missed.append(seed)
    assert found > 20
    assert len(missed) <= found / 10, missed


@pytest.mark.parametrize("seed", range(PROVED))
def test_a_proof_against_enumeration(seed):
    ruled = draw(seed)
    best, X, y = min(ruled.values().values()), ruled.case.X, ruled.case.y
    solution = ez.solve(X, y, gap=1e-6, n_jobs=1, **ruled.settings)
    assert solution.status in ("optimal", "precision"), ruled.words
    assert ruled.obeys(ruled.used(solution.support)), ruled.words
    assert abs(solution.objective - best) <= 2e-6 * max(best, 1e-6), ruled.words
    report = ez.verify(solution.certificate, X, y, rules=ruled.rules)
    assert report.valid, (report.reasons, ruled.words)
    assert report.lower_bound <= best * (1.0 + ACCURATE)
    assert not ez.verify(solution.certificate, X, y, rules=[*ruled.rules, ez.at_most(1, [0])]).valid
    if seed % 4 == 0:
        check_that_other_rules_prove_no_more(ruled, solution.certificate)


def check_that_other_rules_prove_no_more(ruled, certificate):
    """A certificate without one of its rules, or with a looser one, is refused, or its bound holds for all that obey."""
    known = replace(ruled, rules=[]).values()
    heads = [columns[0] for columns in ruled.features]
    for at in range(len(certificate.arrays["rule_low"])):
        for name, value in (("rule_low", 0), ("rule_high", len(heads))):
            arrays = {key: np.array(array) for key, array in certificate.arrays.items()}
            arrays[name][at] = value
            tampered = Draft(dict(certificate.header), arrays, ruled.case.X, ruled.case.y).sealed()
            report = ez.verify(tampered, ruled.case.X, ruled.case.y)
            best = min(value for mask, value in known.items() if obeys_arrays(dict(zip(heads, mask, strict=True)), arrays))
            assert not report.valid or report.lower_bound <= best * (1.0 + ACCURATE), (ruled.words, name, at)
            assert not ez.verify(tampered, ruled.case.X, ruled.case.y, rules=ruled.rules).valid or arrays_equal(
                arrays, certificate.arrays
            )


def obeys_arrays(inside, arrays):
    members = np.split(arrays["rule_members"], arrays["rule_ends"][:-1])
    rules = zip(arrays["rule_feature"], arrays["rule_low"], arrays["rule_high"], members, strict=True)
    return all((feature >= 0 and not inside[feature]) or low <= sum(inside[j] for j in some) <= high
               for feature, low, high, some in rules)  # fmt: skip


def arrays_equal(some, others):
    return all(np.array_equal(some[name], others[name]) for name in some)


@pytest.mark.parametrize("seed", [3, 5, 9, 14, 21, 30])
def test_alternatives_are_all_that_obey(seed):
    ruled = draw(seed)
    settings = {name: value for name, value in ruled.settings.items() if name != "bound" or value is not None}
    settings["lambda_2"] = max(settings["lambda_2"], 1e-3)
    ruled.case.settings["lambda_2"] = settings["lambda_2"]
    values = ruled.values()
    best, within = min(values.values()), 0.05
    found = ez.alternatives(ruled.case.X, ruled.case.y, within=within, **settings)
    assert found.complete, ruled.words
    assert ez.verify(found.certificate, ruled.case.X, ruled.case.y, rules=ruled.rules).valid, ruled.words
    listed = {tuple(ruled.used(model.support).tolist()) for model in found.models}
    assert all(ruled.obeys(np.array(mask)) for mask in listed), ruled.words
    wanted = {mask for mask, value in values.items() if value <= best * (1.0 + within * 0.999)}
    # A support that gains nothing on a part of it is no other model.
    costs = {mask: value - settings["lambda_0"] * float(ruled.prices[list(mask)].sum()) for mask, value in values.items()}
    needless = {mask for mask in wanted if any(set(np.flatnonzero(part)) < set(np.flatnonzero(mask)) and
                                               cost <= costs[mask] + 1e-6 * best for part, cost in costs.items())}  # fmt: skip
    assert wanted - needless <= listed, (ruled.words, wanted - needless - listed)
    assert all(values[mask] <= best * (1.0 + within) + 1e-6 for mask in listed)


@pytest.mark.parametrize("algorithm", ["cd", "local_search"])
def test_every_model_of_a_path_obeys(algorithm):
    for seed in range(12):
        ruled = draw(seed)
        settings = {name: value for name, value in ruled.settings.items() if name not in ("k", "lambda_0", "budget", "bound")}
        path = ez.fit_path(ruled.case.X, ruled.case.y, algorithm=algorithm, **settings)
        assert len(path)
        assert all(ruled.obeys(ruled.used(model.support)) for model in (*path, *path.sized.values())), ruled.words


def test_interactions_come_with_their_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    y = X[:, 1] * X[:, 4] + 0.3 * X[:, 7] + 0.3 * rng.standard_normal(300)
    for heredity, extra in (("strong", [1, 4]), ("weak", None), (None, [])):
        made = ez.interactions(X, heredity=heredity)
        product = made.names.index("x1:x4")
        size = 1 + (1 if extra is None else len(extra))
        support = ez.fit_sizes(made.X, y, size, loss="squared_error", rules=made.rules)[size].support.tolist()
        assert product in support
        assert extra is None or support == [*extra, product]
        assert heredity != "weak" or len({1, 4} & set(support)) == 1


X, Y, _ = ez.datasets.make_classification(60, 6, 2, random_state=0)


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ([ez.at_most(1, [0, 1]), ez.at_most(2, [4, 5]), ez.at_least(2, [0, 1])], "at_most(1, [0, 1]) and at_least(2, [0, 1])"),
        ([ez.exactly(3, [0, 1])], "exactly(3, [0, 1])"),
        ([ez.at_least(3, [0, 1, 2])], "max_support must be at least 3 for the rules, got 2: at_least(3, [0, 1, 2])"),
        ([ez.at_most(1, [0, 9])], "at_most(1, [0, 9]) names 9"),
        ([ez.at_most(1, [0, "age"])], "names 'age'"),
        ([ez.together([0, 0])], "names one twice"),
        ([ez.requires(0, [0, 1])], "need itself"),
        (["age"], "rules must hold"),
    ],
)  # fmt: skip
def test_rules_that_cannot_be_met_are_named(rules, sentence):
    with pytest.raises(ez.InvalidInputError) as refused:
        ez.fit_path(X, Y, max_support=2, rules=rules)
    assert sentence in str(refused.value)


def test_the_referee_says_whether_coefficients_obey():
    coef = np.array([1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert np.isfinite(ez.objective(X, Y, coef, rules=[ez.at_most(1, [0, 1])]))
    assert np.isinf(ez.objective(X, Y, coef, rules=[ez.at_most(1, [0, 2])]))
