"""What users see of alternatives: limits, interruption, checkpoints, summaries, choice, tables, pictures, files, errors."""

import json
import types

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from support.exact_problems import endless_problem
from support.problems import STORAGES, store

import ellzero as ez
from ellzero.exact.verifier import digest

X, LABEL, _ = ez.datasets.make_classification(100, 30, 3, s=2.0, correlation="exponential", rho=0.9, random_state=1)
NAMES = [f"gene {j}" for j in range(30)]
SETTINGS = {"k": 3, "lambda_2": 0.01}


@pytest.fixture(scope="module")
def found():
    return ez.alternatives(X, LABEL, within=0.15, **SETTINGS)


def supports(found):
    return [model.support.tolist() for model in found.models]


def test_the_best_model_is_that_of_solve(found):
    best = ez.solve(X, LABEL, **SETTINGS)
    assert found[0].support.tolist() == best.support.tolist()
    assert found[0].objective == pytest.approx(best.objective, rel=1e-9)
    assert found.threshold == pytest.approx(1.15 * best.objective, rel=1e-7)
    assert all(model.objective <= found.threshold for model in found.models)
    assert len(found) == len(found.models) > 5


def test_n_best(found):
    few = ez.alternatives(X, LABEL, n_best=4, **SETTINGS)
    assert few.complete
    assert supports(few) == supports(found)[:4]
    assert few.within is None
    report = ez.verify(few.certificate, X, LABEL)
    assert report.valid
    assert report.models == 4


def test_ties_with_the_last_are_listed():
    twice = np.c_[X, X[:, 11]]
    few = ez.alternatives(twice, LABEL, k=2, lambda_2=0.01, n_best=1)
    assert len(few) == 2
    assert few[0].objective == pytest.approx(few[1].objective, rel=1e-9)
    assert ez.verify(few.certificate, twice, LABEL).valid


def test_a_feature_that_adds_nothing_makes_no_model():
    idle = np.c_[X, np.ones(len(X))]
    same = ez.alternatives(idle, LABEL, k=4, lambda_2=0.01, lambda_1=0.2, within=0.2)
    assert same.complete
    assert all(30 not in support for support in supports(same))
    assert all((model.values != 0.0).all() for model in same.models)
    assert ez.verify(same.certificate, idle, LABEL).valid


@pytest.mark.parametrize("storage", STORAGES)
def test_storages(storage):
    x = X.astype(np.float32).astype(np.float64)
    expected = ez.alternatives(x, LABEL, within=0.03, **SETTINGS)
    same = ez.alternatives(store(x, storage), LABEL, within=0.03, **SETTINGS)
    assert supports(same) == supports(expected)
    assert ez.verify(same.certificate, store(x, storage), LABEL).valid


def test_threads(found):
    assert supports(ez.alternatives(X, LABEL, within=0.15, n_jobs=2, **SETTINGS)) == supports(found)


def test_limits():
    x, y = endless_problem()
    for limit, status in (({"node_limit": 40}, "node_limit"), ({"time_limit": 1.0}, "time_limit")):
        part = ez.alternatives(x, y, loss="squared_hinge", k=6, lambda_2=0.001, within=0.1, **limit)
        assert part.status == status
        assert not part.complete
        assert part.complete_below < part.threshold
        assert all(model.objective <= part.threshold for model in part.models)
        assert part[0].objective <= part.certificate.claim.objective
        report = ez.verify(part.certificate, x, y)
        assert report.valid, report.reasons
        assert report.lower_bound >= part.complete_below * (1.0 - 1e-9)
        assert "none is missing below" in repr(part)


def test_too_many(found):
    part = ez.alternatives(X, LABEL, within=0.5, max_models=20, **SETTINGS)
    assert part.status == "too_many"
    assert len(part) > 20
    assert "ask for a smaller `within`" in repr(part)
    report = ez.verify(part.certificate, X, LABEL)
    assert report.valid, report.reasons
    # Nothing is missing below the bound that it states.
    below = [model.support.tolist() for model in part.models if model.objective < part.complete_below]
    everything = ez.alternatives(X, LABEL, within=0.5, **SETTINGS)
    assert below == supports(everything)[: len(below)]


def test_interruption_and_checkpoint(tmp_path):
    path, calls = tmp_path / "search.npz", []
    x, y = endless_problem()
    x = x[:, :40]
    settings = {"loss": "squared_hinge", "k": 4, "lambda_2": 0.01, "within": 0.02, "checkpoint": path}

    def stop(now):
        calls.append(now)
        if now.nodes > 30 and len(calls) < 1000:
            calls.extend([now] * 1000)
            raise KeyboardInterrupt

    part = ez.alternatives(x, y, progress=stop, **settings)
    assert part.status == "interrupted"
    assert path.exists()
    assert calls[-1].models is not None
    whole = ez.alternatives(x, y, **{**settings, "checkpoint": None})
    resumed = ez.alternatives(x, y, **settings)
    assert resumed.complete
    assert not path.exists()
    assert supports(resumed) == supports(whole)
    assert ez.verify(resumed.certificate, x, y).valid
    calls.clear()
    ez.alternatives(x, y, progress=stop, **settings)
    with pytest.raises(ez.InvalidInputError, match="another problem"):
        ez.alternatives(x, y, **{**settings, "within": 0.06})


def test_features(found):
    table = np.array([model.coef != 0.0 for model in found.models])
    share = table.mean(axis=0)
    assert found.indispensable == np.flatnonzero(share == 1.0).tolist()
    assert found.exchangeable == np.flatnonzero((share > 0.0) & (share < 1.0)).tolist()
    assert found.unused == np.flatnonzero(share == 0.0).tolist()
    for use in found.features:
        values = np.array([model.coef[use.feature] for model in found.models])
        values = values[values != 0.0]
        assert use.share == pytest.approx(share[use.feature])
        assert (use.lowest, use.highest) == (values.min(), values.max())
        assert use.sign == ("+" if values.min() > 0 else "-" if values.max() < 0 else "+/-")
    assert found.use_of(found.unused[0]).role == "unused"
    shares = [use.share for use in found.features]
    assert shares == sorted(shares, reverse=True)


def test_stand_ins(found):
    listed = {frozenset(support) for support in supports(found)}
    assert found.stand_ins
    for pair in found.stand_ins:
        assert not any({pair.feature, pair.other} <= support for support in listed)
        moved = [support for support in listed if pair.feature in support and support - {pair.feature} | {pair.other} in listed]
        assert len(moved) == pair.models > 0


def test_choice(found):
    scores = [roc_auc_score(LABEL, model.decision_function(X)) for model in found.models]
    assert found.best("roc_auc", X=X, y=LABEL) is found[int(np.argmax(scores))]
    right = [np.mean(model.predict(X) == LABEL) for model in found.models]
    assert found.best("accuracy", X=X, y=LABEL) is found[int(np.argmax(right))]
    assert found.best(lambda model, x, y: -model.values.sum(), X=X, y=LABEL).values.sum() == min(
        model.values.sum() for model in found.models
    )
    assert found.best() is found[0]
    avoided = found.exchangeable[0]
    assert avoided not in found.best(without=avoided).support
    assert avoided in found.best(including=[avoided]).support
    price = np.random.default_rng(0).uniform(1.0, 2.0, 30)
    cheapest = min(sum(price[model.support]) for model in found.models)
    assert sum(price[found.best(costs=price).support]) == cheapest
    assert found.best(costs={avoided: 3.0}) is found.best(without=avoided)
    assert found.smallest.size == min(model.size for model in found.models)


def test_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    named = ez.alternatives(pandas.DataFrame(X, columns=NAMES), LABEL, within=0.05, **SETTINGS)
    assert named.features[0].name == f"gene {named.features[0].feature}"
    assert 0 not in named.best(without="gene 0").support or not named.having(without="gene 0")
    with pytest.raises(ez.InvalidInputError, match="no feature is named"):
        named.best(without="gene 99")
    frame = named.to_frame()
    assert frame.shape == (len(named), 4 + len(named.used))
    assert frame["objective"].is_monotonic_increasing
    assert list(named.to_frame("features")["name"]) == [use.name for use in named.features]
    assert "gene" in named._repr_html_()


def test_file(found, tmp_path):
    found.save(tmp_path / "models.json")
    same = ez.Alternatives.load(tmp_path / "models.json")
    assert repr(same) == repr(found)
    assert same.certificate is None
    for model, known in zip(same.models, found.models, strict=True):
        assert np.array_equal(model.coef, known.coef)
        assert model.objective == known.objective
        assert np.array_equal(model.predict(X), known.predict(X))
    data = json.loads((tmp_path / "models.json").read_text())
    for name, value in (
        ("format", "x"),
        ("version", 2),
        ("n_features", 1),
        ("status", "fine"),
        ("models", [1]),
        ("loss", "no"),
    ):
        (tmp_path / "bad.json").write_text(json.dumps({**data, name: value}))
        with pytest.raises(ez.InvalidInputError):
            ez.Alternatives.load(tmp_path / "bad.json")


def test_certificate_file(found, tmp_path):
    found.certificate.save(tmp_path / "proof.npz")
    report = ez.verify(tmp_path / "proof.npz", X, LABEL, **SETTINGS)
    assert report.valid
    assert report.models == len(found)
    assert "models" in repr(report)
    other = ez.verify(tmp_path / "proof.npz", X, LABEL, k=4, lambda_2=0.01)
    assert not other.valid


def test_exact_arithmetic():
    pytest.importorskip("flint")
    few = ez.alternatives(X[:40, :8], LABEL[:40], k=2, lambda_2=0.05, within=0.1)
    report = ez.verify(few.certificate, X[:40, :8], LABEL[:40], arithmetic="exact")
    assert report.valid, report.reasons


def test_altered_without_a_new_checksum(found):
    header = {**found.certificate.header, "threshold": found.threshold * 1.01}
    report = ez.verify(types.SimpleNamespace(header=header, arrays=found.certificate.arrays), X, LABEL)
    assert report.reasons == ["the digest does not match: the certificate was altered or damaged."]


def test_foreign_fields(found):
    header, arrays = dict(found.certificate.header), dict(found.certificate.arrays)
    arrays["listed_node"] = arrays["listed_node"] * 0
    header["digest"] = digest(header, arrays)
    report = ez.verify(types.SimpleNamespace(header=header, arrays=arrays), X, LABEL)
    assert report.reasons == ["a node of the tree is listed twice."]


def test_plot(found):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = found.plot()
    assert len(ax.get_yticklabels()) == len(found.used)
    assert "within 15 %" in ax.get_title()
    assert "the best 3 of" in found.plot(models=3, top=2).get_title()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "lambda_0, k or budget must be given"),
        ({"k": 2, "within": -0.1}, "within"),
        ({"k": 2, "within": 0.1, "n_best": 3}, "cannot both"),
        ({"k": 2, "n_best": 0}, "n_best"),
        ({"k": 2, "max_models": 0}, "max_models"),
        ({"k": 2, "n_best": 30, "max_models": 20}, "at most max_models"),
        ({"k": 2, "method": "iga"}, "method must be 'bnb'"),
        ({"k": 2, "gap": 0.1}, "gap belongs to solve"),
    ],
)
def test_errors(settings, message):
    with pytest.raises(ez.InvalidInputError, match=message):
        ez.alternatives(X, LABEL, lambda_2=0.01, **settings)


def test_errors_of_choice(found):
    for settings, message in (
        ({"by": "r2", "X": X, "y": LABEL}, "by must be one of"),
        ({"by": "roc_auc"}, "X and y must be given"),
        ({"costs": [1.0]}, "costs must have 30 numbers"),
        ({"without": 99}, "indices below 30"),
        ({"without": found.used}, "no model is there"),
    ):
        with pytest.raises(ez.InvalidInputError, match=message):
            found.best(**settings)


def test_estimators():
    model = ez.L0Classifier(k=3, lambda_2=0.01, algorithm="exact", within=0.15, standardize=False).fit(X, LABEL)
    expected = ez.alternatives(X, LABEL, within=0.15, **SETTINGS)
    assert supports(model.alternatives_) == supports(expected)
    assert not hasattr(ez.L0Classifier(k=3, algorithm="exact").fit(X, LABEL), "alternatives_")
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    each = ez.L0Classifier(k=1, algorithm="exact", within=0.05, multi_class="ovr").fit(X, three)
    assert len(each.alternatives_) == 3
    together = ez.L0Classifier(k=1, algorithm="exact", within=0.05).fit(X, three)
    assert together.alternatives_.complete
    assert supports(together.alternatives_) == [[0]]
    numbers = ez.L0Regressor(k=2, algorithm="exact", within=0.05).fit(X, X[:, 3] + X[:, 4])
    assert numbers.alternatives_.complete
    for settings, message in (({"within": 0.1}, "belongs to algorithm"), ({"within": -1, "algorithm": "exact"}, "within")):
        with pytest.raises(ez.InvalidInputError, match=message):
            ez.L0Classifier(k=2, **settings).fit(X, LABEL)
