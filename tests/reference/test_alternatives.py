"""All models that are nearly as good, against enumeration; every certificate is verified, none after tampering."""

import numpy as np
import pytest
from support.alternatives import draw, enumerated, oracle_values, supports_of
from support.certificates import check

import ellzero as ez


def without_model(place, header, arrays):
    """A certificate from which one model is removed."""
    ends = np.concatenate(([0], arrays["listed_ends"]))
    kept = np.ones(len(arrays["listed_columns"]), dtype=bool)
    kept[ends[place] : ends[place + 1]] = False
    arrays["listed_columns"], arrays["listed_coef"] = arrays["listed_columns"][kept], arrays["listed_coef"][kept]
    arrays["listed_ends"] = np.cumsum(np.delete(np.diff(ends), place))
    for name in ("listed_node", "listed_intercept"):
        arrays[name] = np.delete(arrays[name], place)
    removed = arrays["redundant_to"] == place
    arrays["redundant_node"], arrays["redundant_to"] = arrays["redundant_node"][~removed], arrays["redundant_to"][~removed]
    arrays["redundant_to"] = arrays["redundant_to"] - (arrays["redundant_to"] > place)


def with_model(place, header, arrays):
    """A certificate to which a model is added: one of the list, at another leaf."""
    ends = np.concatenate(([0], arrays["listed_ends"]))
    part = slice(ends[place], ends[place + 1])
    leaves = np.setdiff1d(
        np.arange(len(arrays["parent"])), [*arrays["parent"], *arrays["listed_node"], *arrays["redundant_node"]]
    )
    if not len(leaves):
        return False
    arrays["listed_node"] = np.append(arrays["listed_node"], leaves[place % len(leaves)])
    arrays["listed_columns"] = np.append(arrays["listed_columns"], arrays["listed_columns"][part])
    arrays["listed_coef"] = np.append(arrays["listed_coef"], arrays["listed_coef"][part])
    arrays["listed_ends"] = np.append(arrays["listed_ends"], len(arrays["listed_columns"]))
    arrays["listed_intercept"] = np.append(arrays["listed_intercept"], arrays["listed_intercept"][place])
    return True


def with_redundant(place, header, arrays):
    """A certificate that lists a support which gains nothing as if it were another model."""
    if not len(arrays["redundant_node"]):
        return False
    node, to = int(arrays["redundant_node"][0]), int(arrays["redundant_to"][0])
    ends = np.concatenate(([0], arrays["listed_ends"]))
    part = slice(ends[to], ends[to + 1])
    more = np.setdiff1d(features_in(arrays, node), arrays["listed_columns"][part])
    for name in ("redundant_node", "redundant_to"):
        arrays[name] = arrays[name][1:]
    arrays["listed_node"] = np.append(arrays["listed_node"], node)
    arrays["listed_columns"] = np.concatenate([arrays["listed_columns"], arrays["listed_columns"][part], more])
    arrays["listed_coef"] = np.concatenate([arrays["listed_coef"], arrays["listed_coef"][part], np.full(len(more), 1e-12)])
    arrays["listed_ends"] = np.append(arrays["listed_ends"], len(arrays["listed_columns"]))
    arrays["listed_intercept"] = np.append(arrays["listed_intercept"], arrays["listed_intercept"][to])
    return True


def features_in(arrays, node):
    """The features that decisions about single features put in, on the way to a node."""
    out = []
    starts = np.concatenate(([0], arrays["block_ends"]))
    while node > 0:
        block = arrays["branch"][node]
        if block >= 0 and arrays["side"][node]:
            out += arrays["block_members"][starts[block] : starts[block + 1]].tolist()
        node = arrays["parent"][node]
    return out


@pytest.mark.parametrize("group", range(12))
def test_the_models_are_those_of_enumeration(group):
    for seed in range(10 * group, 10 * group + 10):
        case = draw(seed)
        wanted, unsure = enumerated(case)
        found = ez.alternatives(case.X, case.y, within=case.within, **case.settings)
        supports = supports_of(found, case)
        assert found.complete, seed
        assert len(set(supports)) == len(supports), seed
        assert set(supports) ^ wanted <= unsure, (seed, set(supports) ^ wanted)
        objectives = [model.objective for model in found.models]
        assert objectives == sorted(objectives), seed
        report = ez.verify(found.certificate, case.X, case.y)
        assert report.valid, (seed, report.reasons)
        assert report.models == len(found.models), seed
        check_tampering(seed, case, found)


@pytest.mark.parametrize("group", range(6))
def test_the_best_ones_are_those_of_enumeration(group):
    for seed in range(10 * group, 10 * group + 10):
        case = draw(seed)._replace(within=1e6)
        count = (1, 2, 5, 1000)[seed % 4]
        wanted, unsure = enumerated(case)
        found = ez.alternatives(case.X, case.y, n_best=count, **case.settings)
        supports = supports_of(found, case)
        assert found.complete, seed
        assert set(supports) <= wanted | unsure, seed
        assert len(supports) >= min(count, len(wanted - unsure)), seed
        price = case.settings.get("lambda_0", 0.0)
        best = sorted(oracle_values(case, wanted, price))[: len(supports)]
        assert [model.cost + price * model.spent for model in found.models] == pytest.approx(best, rel=1e-7), seed
        report = ez.verify(found.certificate, case.X, case.y)
        assert report.valid, (seed, report.reasons)


def test_a_list_whose_threshold_fell():
    """The first model that is found is bad: supports are listed that are above the threshold in the end."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 25))
    y = np.where(X[:, :4].sum(axis=1) + rng.standard_normal(40) > 0.0, 1, -1)
    for within in (0.1, 0.4):
        found = ez.alternatives(X, y, k=3, lambda_2=0.02, within=within, warm_start=np.eye(25)[7])
        few = ez.alternatives(X, y, k=3, lambda_2=0.02, n_best=len(found))
        for each in (found, few):
            report = ez.verify(each.certificate, X, y)
            assert report.valid, report.reasons
        assert [model.support.tolist() for model in few.models] == [model.support.tolist() for model in found.models]


def check_tampering(seed, case, found):
    """A model removed, one added, the threshold changed, a coefficient changed: all are told."""
    last, rng = len(found.models) - 1, np.random.default_rng(seed)
    place = int(rng.integers(len(found.models)))
    objective, size = found.certificate.claim.objective, len(found.models[place].support)

    def raised(header, arrays):
        header["threshold"] += 0.1 * objective + 0.01
        header["lower_bound"] = header["threshold"]

    def lowered(header, arrays):
        header["threshold"] = header["lower_bound"] = header["objective"] * (1.0 - 1e-6) - 1e-9

    def worse(header, arrays):
        if not size:
            return False
        arrays["listed_coef"] *= 30.0
        return True

    def partly_lowered(header, arrays):
        header["threshold"] = header["lower_bound"] = header["threshold"] * (1.0 - 1e-4)

    changes = [lambda h, a: without_model(place, h, a), lambda h, a: with_model(last, h, a), raised, lowered, worse]
    for number, change in enumerate([*changes, partly_lowered, lambda h, a: with_redundant(place, h, a)]):
        header, arrays = (
            dict(found.certificate.header),
            {name: array.copy() for name, array in found.certificate.arrays.items()},
        )
        if change(header, arrays) is not False:
            assert not check(header, arrays, case.X, case.y, arithmetic="float64").valid, (seed, number)
