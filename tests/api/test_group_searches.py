"""Exact searches over groups of columns: what must not change them, checkpoints, and the witness."""

import numpy as np
import pytest
from support.problems import LOSSES

import ellzero as ez
from ellzero import _core
from ellzero.exact.incumbent import as_solution, null_model
from ellzero.problem.making import make_problem
from ellzero.solvers.fields import core_object
from ellzero.solvers.paths import core_problem

LABELS = np.repeat(np.arange(12), [1, 2, 3, 4, 2, 3, 1, 2, 3, 2, 1, 4])


def drawn(loss, seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(LABELS))) + 0.6 * rng.normal(size=(n, 12))[:, LABELS]
    signal = X @ (rng.normal(size=len(LABELS)) * (LABELS % 4 == 1)) + 0.8 * rng.normal(size=n)
    return X, signal if loss == "squared_error" else np.where(signal > 0.0, 1, -1)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_columns_does_not_matter(loss):
    X, y = drawn(loss)
    settings = {"loss": loss, "k": 3, "lambda_1": 0.005, "lambda_2": 0.02, "standardize": True, "gap": 1e-7}
    whole = ez.solve(X, y, groups=LABELS, **settings)
    order = np.random.default_rng(1).permutation(len(LABELS))
    other = ez.solve(X[:, order], y, groups=LABELS[order], **settings)
    assert other.objective == pytest.approx(whole.objective, rel=1e-7)
    np.testing.assert_allclose(other.coef, whole.coef[order], atol=2e-4)
    assert ez.verify(other.certificate, X[:, order], y, groups=LABELS[order], **without_gap(settings)).valid
    assert not ez.verify(other.certificate, X[:, order], y, groups=LABELS, **without_gap(settings)).valid


def without_gap(settings):
    return {name: value for name, value in settings.items() if name != "gap"}


@pytest.mark.parametrize("loss", LOSSES)
def test_columns_on_their_own_are_no_groups(loss):
    X, y = drawn(loss)
    settings = {"loss": loss, "k": 3, "lambda_2": 0.02}
    plain, alone = ez.solve(X, y, **settings), ez.solve(X, y, groups=[None] * X.shape[1], **settings)
    np.testing.assert_array_equal(alone.coef, plain.coef)
    assert (alone.lower_bound, alone.nodes) == (plain.lower_bound, plain.nodes)
    assert alone.certificate.header == plain.certificate.header
    assert "group" not in alone.certificate.arrays


@pytest.mark.parametrize("loss", LOSSES)
def test_a_column_twice_in_a_group_has_half_the_ridge(loss):
    """b / 2 + b / 2 costs lambda_2 b^2 / 2. Every column is there twice, so that this is so for all of them."""
    X, y = drawn(loss)
    X = X[:, :9]
    twice = ez.solve(np.c_[X, X], y, loss=loss, k=2, lambda_2=0.04, groups=[*range(9), *range(9)], gap=1e-8)
    once = ez.solve(X, y, loss=loss, k=2, lambda_2=0.02, gap=1e-8)
    assert twice.objective == pytest.approx(once.objective, rel=1e-7)
    np.testing.assert_allclose(twice.coef[:9] + twice.coef[9:], once.coef, atol=1e-3)


def test_equal_outputs_on_a_stacked_design():
    """K responses that are equal, each with coefficients of its own, are K times one response."""
    X, y = drawn("squared_error")
    K, X = 3, X[:, :10]
    stacked, groups = np.kron(X - X.mean(axis=0), np.eye(K)), np.repeat(np.arange(10), K)
    y = y - y.mean()
    settings = {"loss": "squared_error", "fit_intercept": False, "gap": 1e-8}
    one = ez.solve(X - X.mean(axis=0), y, lambda_0=0.02, lambda_2=0.01, **settings)
    all_of_them = ez.solve(np.asarray(stacked), np.repeat(y, K), groups=groups, lambda_0=0.02, lambda_2=0.01 / K, **settings)
    assert all_of_them.objective == pytest.approx(one.objective, rel=1e-8)
    np.testing.assert_allclose(all_of_them.coef.reshape(10, K), np.tile(one.coef[:, None], K), atol=1e-4)
    assert ez.verify(all_of_them.certificate, stacked, np.repeat(y, K)).valid


@pytest.mark.parametrize("loss", LOSSES)
def test_groups_with_constant_and_empty_columns(loss):
    X, y = drawn(loss)
    X[:, [0, 4, 8, 9]] = [2.0, 0.0, 0.0, -1.0]  # a whole group, the head of another, two followers
    for extra in ({}, {"standardize": True}, {"fit_intercept": False}):
        settings = {"loss": loss, "k": 3, "lambda_2": 0.02, "groups": LABELS, **extra}
        found = ez.solve(X, y, **settings)
        assert found.status == "optimal"
        assert ez.verify(found.certificate, X, y, **settings).valid
        assert extra.get("fit_intercept") is False or not found.coef[[0, 4, 8, 9]].any()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bound", ["heuristic", 0.5])
def test_without_a_penalty_of_coefficients(loss, bound):
    X, y = drawn(loss)
    found = ez.solve(X, y, loss=loss, k=2, groups=LABELS, bound=bound)
    report = ez.verify(found.certificate, X, y)
    assert report.valid, report.reasons
    assert report.conditional


@pytest.mark.parametrize("loss", LOSSES)
def test_ordinary_best_subsets_of_groups(loss):
    """The curvature of the loss, or its growth, holds the coefficients."""
    X, y = drawn(loss, n=200)
    if loss != "squared_error":
        y = np.where(np.random.default_rng(3).random(len(y)) < 0.2, -y, y)
    X, labels = X[:, :12], LABELS[:12]
    found = ez.solve(X, y, loss=loss, k=2, groups=labels)
    report = ez.verify(found.certificate, X, y, loss=loss, k=2, groups=labels)
    assert report.valid, report.reasons
    assert not report.conditional
    assert found.status == "optimal"


@pytest.mark.parametrize("loss", LOSSES)
def test_a_checkpoint_goes_on_as_if_nothing_had_happened(tmp_path, loss):
    X, y = drawn(loss)
    path, settings = tmp_path / "search.npz", {"loss": loss, "lambda_0": 0.02, "lambda_2": 0.003, "groups": LABELS, "gap": 1e-6}
    whole = ez.solve(X, y, **settings)
    assert whole.nodes > 8, "too easy to tell anything"
    stopped = ez.solve(X, y, node_limit=6, checkpoint=path, **settings)
    assert stopped.status == "node_limit"
    with pytest.raises(ez.InvalidInputError, match="another"):
        ez.solve(X, y, checkpoint=path, **{**settings, "groups": LABELS % 11})
    resumed = ez.solve(X, y, checkpoint=path, **settings)
    assert resumed.status == "optimal"
    assert (resumed.objective, resumed.lower_bound) == pytest.approx((whole.objective, whole.lower_bound), rel=1e-9)
    assert resumed.nodes == whole.nodes
    assert ez.verify(resumed.certificate, X, y).valid


def written(path, change):
    """A checkpoint with one array changed."""
    with np.load(path) as file:
        arrays = dict(file)
    change(arrays)
    np.savez(path, **arrays)


def followers_first(arrays):
    for name in ("state.near", "state.clause_members"):
        arrays[name] = np.where(arrays[name] == 3, 4, arrays[name])
    arrays["state.near"] = np.resize(np.array([2, 4, 5], dtype=arrays["state.near"].dtype), len(arrays["state.near"]))


def part_of_a_group_out(arrays):
    arrays["state.outside"] |= np.uint64(1 << 2 | 1 << 7)


def part_of_a_group_left(arrays):
    arrays["search.columns"] = np.array([0, 1, 3, 4, 5], dtype=arrays["search.columns"].dtype)
    arrays["search.columns.starts"] = np.array([0, 5], dtype=arrays["search.columns.starts"].dtype)


@pytest.mark.parametrize("change", [followers_first, part_of_a_group_out, part_of_a_group_left])
def test_checkpoints_that_lie_about_groups(tmp_path, change):
    X, y = drawn("logistic")
    path, settings = tmp_path / "search.npz", {"lambda_0": 0.02, "lambda_2": 0.003, "groups": LABELS}
    whole = ez.solve(X, y, **settings)
    ez.solve(X, y, node_limit=6, checkpoint=path, **settings)
    written(path, change)
    try:
        resumed = ez.solve(X, y, checkpoint=path, **settings)
    except ez.InvalidInputError:
        return
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-4)
    assert ez.verify(resumed.certificate, X, y).valid


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_witness_is_never_lost(loss, threads):
    X, y = drawn(loss, seed=2)
    settings = {"loss": loss, "lambda_2": 0.01, "lambda_1": 0.002, "groups": LABELS}
    best = ez.solve(X, y, lambda_0=0.01, gap=1e-9, **settings)
    problem = make_problem(X, y, **settings)
    for alike in (0.0, 0.4, 2.0):

        def search(objective, alike=alike):
            options = core_object(
                _core.SearchOptions,
                lambda_0=0.01 / problem.units.lambda_0,
                k=X.shape[1],
                gap=1e-7,
                null=problem.null / problem.units.cost,
                alike=alike,
                threads=threads,
            )
            out = _core.Search(core_problem(problem, 1e-9), options, as_solution(problem, null_model(problem, 0.01)))
            out.follow(as_solution(problem, best.model), objective / problem.units.cost)
            return out.run(seconds=60.0, node_limit=2**40, report=None)

        assert search(best.objective) == _core.SearchStatus.finished
        with pytest.raises(_core.WitnessLost):
            search(0.97 * best.objective)


def test_alternatives_speak_of_groups(tmp_path):
    X, y = drawn("logistic")
    names = [f"g{label}" for label in LABELS]
    found = ez.alternatives(X, y, k=2, lambda_2=0.02, within=0.6, groups=names)
    assert found.complete
    assert len(found) > 3
    heads = np.array([np.flatnonzero(label == LABELS)[0] for label in LABELS])
    for model, support in zip(found.models, found.supports, strict=True):
        assert support == set(heads[model.support].tolist())
        assert model.size == len(support) <= 2
    features = set(found.indispensable) | set(found.exchangeable)
    assert features == set().union(*found.supports)
    assert len(features) + len(found.unused) == 12
    use = found.features[0]
    assert use.name == names[use.feature]
    assert use.models == len(found.having(use.name)) == len(found.having(use.feature))
    assert found.to_frame().shape == (len(found), 4 + len(found.used))
    assert found.to_frame(of="features")["name"].tolist() == [names[j] for j in found.used]
    assert all(pair.feature in features and pair.other in features for pair in found.stand_ins)
    dear = {use.name: 1.0}
    assert use.feature not in found.supports[found.models.index(found.best(costs=dear))] or use.role == "indispensable"
    found.save(tmp_path / "models.json")
    loaded = ez.Alternatives.load(tmp_path / "models.json")
    assert loaded.supports == found.supports
    assert [model.size for model in loaded.models] == [model.size for model in found.models]
    assert repr(loaded) == repr(found)
    for model, before in zip(loaded.models, found.models, strict=True):
        assert model.used_groups == before.used_groups
        assert repr(model) == repr(before)
        assert model.to_frame()["group"].tolist() == before.to_frame()["group"].tolist()
        assert model.summary().to_frame()["name"].tolist() == before.summary().to_frame()["name"].tolist()
    text = (tmp_path / "models.json").read_text()
    (tmp_path / "models.json").write_text(text.replace('"heads": [\n   0,', '"heads": [\n   1,'))
    with pytest.raises(ez.InvalidInputError, match="groups must have the first column"):
        ez.Alternatives.load(tmp_path / "models.json")
