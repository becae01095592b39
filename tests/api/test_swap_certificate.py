"""Certificates of bounds over swaps: trees made by hand, checked against the best of all models that a swap leads to."""

from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from support.certificates import RESPONSE, check
from support.certificates import X as DATA
from support.oracle import Model as Oracle
from support.problems import target

import ellzero as ez
from ellzero.exact.certificate import Certificate
from fuzz.certificates.tampering import CATALOGUE, Tampering
from fuzz.certificates.tampering.changes import PROVES

X = DATA[:, :7]
FEATURES, FREE = frozenset(range(6)), [6]  # counted, and unpenalized
COMMON = {"lambda_1": 0.004, "lambda_2": 0.01}
LAMBDA_0 = 0.02
EMPTY = frozenset()


def subsets(features):
    return [frozenset(chosen) for size in range(len(features) + 1) for chosen in combinations(sorted(features), size)]


def near(home, size, models):
    return [T for T in models if len(home - T) <= size and len(T - home) <= size]


@cache
def solved(loss):
    """An ordinary solution, the fits of all subsets and their values."""
    y = target(RESPONSE, loss)
    sol = ez.solve(X, y, loss=loss, lambda_0=LAMBDA_0, unpenalized=FREE, **COMMON)
    oracle = Oracle(X, y.astype(float), loss, **COMMON, unpenalized=FREE)
    fits = {T: oracle.fit(T) for T in subsets(FEATURES)}
    return sol, fits, {T: fit.value + LAMBDA_0 * len(T) for T, fit in fits.items()}


def whole_tree(loss, models):
    """Every feature decided: strong duality makes a leaf's dual point prove its model's value. Only `models` get one."""
    fits = solved(loss)[1]
    tree, chosen, level = {"parent": [-1], "branch": [-1], "side": [0], "row": [-1]}, [], [(0, EMPTY)]
    for j in sorted(FEATURES):
        grown = []
        for parent, T in level:
            for side in (0, 1):
                grown.append((len(tree["parent"]), T | {j} if side else T))
                for name, value in (("parent", parent), ("branch", j), ("side", side), ("row", -1)):
                    tree[name].append(value)
        level = grown
    for node, T in level:
        if T in models:
            tree["row"][node] = len(chosen)
            chosen.append(fits[T])
    tree["block_members"], tree["block_ends"] = sorted(FEATURES), list(range(1, len(FEATURES) + 1))  # a feature each
    used = [np.flatnonzero(fit.coef) for fit in chosen]
    models = {"model_ends": np.cumsum([len(each) for each in used]), "model_columns": np.concatenate(used)}
    models["model_values"] = np.concatenate([fit.coef[each] for fit, each in zip(chosen, used, strict=True)])
    models["model_intercept"] = np.array([fit.intercept + X.mean(axis=0) @ fit.coef for fit in chosen])
    return {**{name: np.array(values) for name, values in tree.items()}, **models}


def certify(loss, home, size, solution):
    """A certificate that claims all that there is to prove over the swaps from `home`."""
    (sol, fits, values), near_home = solved(loss), near(home, size, solved(loss)[1])
    fit = fits[solution]
    support = np.flatnonzero(fit.coef)
    model = replace(sol.certificate.model, support=support, values=fit.coef[support], intercept=fit.intercept)
    lower_bound = min(values[T] for T in [*near_home, solution]) - 1e-9
    claim = replace(sol.certificate.claim, objective=values[solution], lower_bound=lower_bound, status="time_limit")
    claim = replace(claim, swap_size=size, home=np.array(sorted(home), dtype=np.int64))
    return Certificate(sol.certificate.problem, claim, model, whole_tree(loss, near_home))


CASES = [
    (loss, size, seed) for loss in ("logistic", "squared_hinge", "squared_error") for size in (1, 2, 3) for seed in range(4)
]


@pytest.mark.parametrize(("loss", "size", "seed"), CASES)
def test_what_is_proved_is_the_best_swap(loss, size, seed):
    rng, values = np.random.default_rng([seed, size]), solved(loss)[2]
    home = frozenset(rng.permutation(6)[: rng.integers(0, 7)].tolist())
    least = min(values[T] for T in near(home, size, values))
    for solution in (home, max(values, key=values.get), min(values, key=values.get)):
        report = ez.verify(certify(loss, home, size, solution), X, target(RESPONSE, loss))
        assert report.valid, report.reasons
        assert report.lower_bound == pytest.approx(min(least, values[solution]), rel=1e-8)
        assert report.swap_size == size
        assert f"the bound is over swaps of at most {size} feature" in report.reasons[0]
        assert "not over all models" in report.reasons[0]
        assert ("these swaps start from" in " ".join(report.reasons)) == (solution != home)
        assert f"over swaps of at most {size}" in repr(report)


def test_a_reader_who_expects_swaps_expects_them_from_the_solution():
    values = solved("logistic")[2]
    best = min(values, key=values.get)
    other = next(T for T in sorted(values, key=sorted) if len(T) == len(best) and best != T)
    settings = {"loss": "logistic", "swap_size": 1, "lambda_0": LAMBDA_0, "unpenalized": FREE, **COMMON}
    for home, good in ((best, True), (other, False)):
        certificate = certify("logistic", home, 1, best)
        assert ez.verify(certificate, X, target(RESPONSE, "logistic")).valid
        report = ez.verify(certificate, X, target(RESPONSE, "logistic"), expect=settings)
        assert report.valid == good, report.reasons
        assert good or "do not start from its solution" in report.reasons[0]


@pytest.mark.parametrize("size", [1, 2])
def test_an_ordinary_tree_serves_swaps(size):
    """Its dual points are as good as others; over fewer models they prove as much or more, never too much."""
    (sol, _, values), y = solved("logistic"), target(RESPONSE, "logistic")
    assert ez.verify(sol.certificate, X, y).swap_size is None
    for home in subsets(FEATURES):
        claim = replace(sol.certificate.claim, swap_size=size, home=np.array(sorted(home)))
        report = ez.verify(replace(sol.certificate, claim=claim), X, y)
        assert report.valid, report.reasons
        assert report.lower_bound >= sol.lower_bound - 1e-12
        assert report.lower_bound <= min(values[T] for T in near(home, size, values)) + 1e-9


# Tampering: far from the best features, a swap of one cannot reach them -----------------------------------------------


def farthest():
    """A set of features whose best swap is well above the best of all, and this swap."""
    values = solved("logistic")[2]
    home = max(subsets(FEATURES), key=lambda home: min(values[T] for T in near(home, 1, values)))
    best = min(near(home, 1, values), key=values.get)
    assert values[best] > 1.05 * min(values.values()), "too easy to tell anything"
    return home, best


def parts():
    home, best = farthest()
    certificate = certify("logistic", home, 1, best)
    return dict(certificate.header), {name: np.array(array) for name, array in certificate.arrays.items()}


def other_home(header, arrays):
    values = solved("logistic")[2]
    arrays["home"] = np.array(sorted(min(values, key=values.get)))


def a_point_removed(header, arrays):
    """That of the leaf with the best swap."""
    values = solved("logistic")[2]
    home, best = farthest()
    arrays["model_scale"] = np.ones(len(arrays["model_ends"]))
    arrays["model_scale"][sorted(near(home, 1, values), key=sorted_bits).index(best)] = 0.0


def sorted_bits(T):
    """The order of the leaves."""
    return [j in T for j in sorted(FEATURES)]


OWN = [tampering for tampering in CATALOGUE if tampering.base == "swaps"]
OWN += [Tampering("swaps", "other home", other_home, PROVES), Tampering("swaps", "a point removed", a_point_removed, PROVES)]


@pytest.mark.parametrize("tampering", OWN, ids=[tampering.name for tampering in OWN])
def test_tampering_is_told(tampering):
    header, arrays = parts()
    assert len(arrays["home"]) >= 2
    report = check(header, arrays, X)
    assert report.valid, report.reasons
    tampering.change(header, arrays)
    report = check(header, arrays, X)
    assert not report.valid
    assert tampering.reason in " ".join(report.reasons), report.reasons


def test_larger_swaps_prove_smaller_ones():
    """Fewer models, the same dual points: lowering swap_size makes a claim weaker, and it stays true."""
    values, home = solved("logistic")[2], farthest()[0]
    certificate = certify("logistic", home, 3, max(values, key=values.get))
    header, arrays = dict(certificate.header), dict(certificate.arrays)
    proved = []
    for size in (3, 2, 1):
        header["swap_size"] = size
        report = check(header, arrays, X)
        assert report.valid, report.reasons
        assert report.lower_bound == pytest.approx(min(values[T] for T in near(home, size, values)), rel=1e-8)
        proved.append(report.lower_bound)
    assert proved == sorted(proved)


def test_saved_and_loaded(tmp_path):
    home, best = farthest()
    for certificate in (certify("logistic", home, 1, best), certify("logistic", EMPTY, 2, EMPTY)):
        certificate.save(tmp_path / "proof.npz")
        report = ez.verify(tmp_path / "proof.npz", X, target(RESPONSE, "logistic"))
        assert report.valid, report.reasons
        assert repr(report) == repr(ez.verify(certificate, X, target(RESPONSE, "logistic")))
