"""`ellzero certify` and `ellzero verify`: a proof that survives the trip through files."""

import json

import numpy as np
import pytest
from support.command_line import species, table

import ellzero as ez

FRAME = table()
X, Y = FRAME[list("abcdef")].to_numpy(), FRAME.label.to_numpy(dtype=str)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", "squared_error"])
@pytest.mark.parametrize("size", [("--k", "2"), ("--lambda-0", "0.05")])
def test_round_trip(run, data, tmp_path, loss, size):
    proof = tmp_path / "proof.npz"
    result = run.json("certify", data, "--target", "label", *size, "--loss", loss, "--out", proof)
    assert result["status"] == "optimal"
    assert result["classes"] == ["no", "yes"]
    y = Y if loss != "squared_error" else np.where(Y == "yes", 1.0, -1.0)
    number = {"k": 2} if size[0] == "--k" else {"lambda_0": 0.05}
    solution = ez.solve(X, y, loss=loss, lambda_2=1e-3, standardize=True, **number)
    assert result["objective"] == pytest.approx(solution.objective, rel=1e-4)
    assert {feature["name"] for feature in result["features"]} == {"abcdef"[j] for j in solution.support}
    assert result["certificate"] == str(proof)
    verdict = run.json("verify", proof, data, "--target", "label")
    assert verdict["valid"]
    assert verdict["claims"]["loss"] == loss
    assert verdict["objective"] == pytest.approx(result["objective"], rel=1e-9)
    assert set(verdict["support"]) == {feature["name"] for feature in result["features"]}


def test_text_says_what_matters(run, data, tmp_path, monkeypatch):
    monkeypatch.setattr("ellzero.base.progress.SECONDS_IN_SILENCE", -1.0)
    code, out, err = run("certify", data, "--target", "label", "--k", "2", "--out", tmp_path / "proof.npz")
    assert code == 0
    assert out.startswith("optimal (proved")
    assert "2 of 6 features, 120 rows, logistic loss, positive coefficients make yes likelier:" in out
    assert out.splitlines()[-1] == f"written: {tmp_path / 'proof.npz'}"
    assert err.startswith("ellzero: exact search: gap at most ")
    _, _, err = run("certify", data, "--target", "label", "--k", "2")
    assert "the proof is not kept; --out proof.npz writes it" in err
    out = run.ok("verify", tmp_path / "proof.npz", data, "--target", "label")
    assert out.startswith("Certificate: valid\n")
    assert "at most 2 features, lambda_2 = 0.001 times beta^2, beta on the scale of standardised features" in out
    assert "features     a, c" in out


def test_long_checks_show_progress(run, data, tmp_path, monkeypatch):
    argv = tmp_path / "proof.npz", data, "--target", "label"
    run.ok("certify", *argv[1:], "--k", "2", "--out", argv[0])
    assert run("verify", *argv)[2] == ""
    monkeypatch.setattr("ellzero.base.progress.SECONDS_IN_SILENCE", -1.0)
    assert run("verify", *argv)[2].startswith("ellzero: checking the proof: done in ")
    assert run("verify", *argv, "--quiet")[2] == ""


def test_regression(run, tmp_path):
    frame = FRAME.assign(price=3.0 * FRAME.b - FRAME.d).drop(columns="label")
    frame.to_csv(tmp_path / "data.csv", index=False)
    argv = [tmp_path / "data.csv", "--target", "price"]
    result = run.json("certify", *argv, "--regression", "--k", "2", "--out", tmp_path / "proof.npz")
    assert [feature["name"] for feature in result["features"]] == ["b", "d"]
    assert result["classes"] is None
    assert run.json("verify", tmp_path / "proof.npz", *argv, "--regression")["valid"]


def test_one_class_against_the_rest(run, tmp_path):
    species().to_csv(tmp_path / "data.csv", index=False)
    argv = [tmp_path / "data.csv", "--target", "species"]
    result = run.json("certify", *argv, "--positive", "cat", "--k", "2", "--out", tmp_path / "proof.npz")
    coefficient = {feature["name"]: feature["coefficient"] for feature in result["features"]}
    assert coefficient["width"] > 0.0 > coefficient["length"]
    assert run.json("verify", tmp_path / "proof.npz", *argv, "--positive", "cat")["valid"]
    code, out, _ = run("verify", tmp_path / "proof.npz", *argv, "--positive", "bee")
    assert code == 1
    assert "y is not the target" in out


def test_settings_reach_the_solver(run, data, tmp_path):
    weighted = FRAME.assign(weight=np.linspace(1.0, 3.0, len(FRAME)))
    weighted.to_csv(data, index=False)
    argv = [data, "--target", "label", "--weight", "weight", "--k", "2", "--always", "f"]
    more = ["--lambda-1", "0.001", "--lambda-2", "0.01", "--no-standardize", "--no-intercept", "--lower", "-1", "--upper", "1"]
    result = run.json("certify", *argv, *more, "--bound", "5", "--gap", "1e-6", "--out", tmp_path / "proof.npz")
    expected = ez.solve(
        X,
        Y,
        k=2,
        lambda_1=0.001,
        lambda_2=0.01,
        fit_intercept=False,
        lower=-1.0,
        upper=1.0,
        unpenalized=[5],
        bound=5.0,
        gap=1e-6,
        sample_weight=weighted.weight,
    )
    assert result["objective"] == pytest.approx(expected.objective, rel=1e-6)
    assert result["gap"] <= 1e-6
    assert result["intercept"] == 0.0
    assert result["conditional"]
    assert result["bound"] == 5.0
    verdict = run.json("verify", tmp_path / "proof.npz", data, "--target", "label", "--weight", "weight")
    assert verdict["valid"]
    assert verdict["conditional"]


def test_other_methods(run, data):
    argv = ["certify", data, "--target", "label", "--k", "2"]
    best = run.json(*argv)["objective"]
    assert run.json(*argv, "--method", "iga")["objective"] == pytest.approx(best, rel=1e-4)
    result = run.json(*argv, "--method", "iga", "--backend", "highs", "--bound", "heuristic")
    assert result["objective"] == pytest.approx(best, rel=1e-4)
    assert "HiGHS" in result["prover"]
    assert run.json(*argv, "--node-limit", "0")["status"] in ("node_limit", "optimal")
    assert "backend must be one of" in run.error(*argv, "--method", "mip")


def test_a_limit_is_no_failure(run, tmp_path):
    """Nodes run out: what is known is written and holds."""
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "data.npz", X=rng.normal(size=(100, 60)), y=rng.random(100) > 0.5)
    argv = [tmp_path / "data.npz", "--lambda-2", "1e-4", "--k", "8", "--node-limit", "5", "--out", tmp_path / "proof.npz"]
    result = run.json("certify", *argv)
    assert result["status"] == "node_limit"
    assert result["gap"] > 1e-4
    code, out, _ = run("verify", tmp_path / "proof.npz", tmp_path / "data.npz")
    assert code == 0
    assert "leaves are open: the search stopped early (node_limit)" in out


def test_what_is_not_valid(run, data, tmp_path):
    proof = tmp_path / "proof.npz"
    FRAME.assign(weight=1.0).to_csv(tmp_path / "weighted.csv", index=False)
    run.ok("certify", data, "--target", "label", "--k", "2", "--out", proof)
    changed = FRAME.copy()
    changed.loc[0, "a"] += 1e-9
    changed.to_csv(tmp_path / "changed.csv", index=False)
    FRAME.assign(weight=np.arange(1, 121)).to_csv(tmp_path / "other.csv", index=False)
    (tmp_path / "broken.npz").write_bytes(proof.read_bytes()[:1000])
    for argv, reason in (
        ([proof, tmp_path / "changed.csv"], "X is not the"),
        ([proof, data, "--drop", "a"], "X has shape (120, 5)"),
        ([tmp_path / "broken.npz", data], "cannot be read as a certificate"),
    ):
        code, out, err = run("verify", *argv, "--target", "label")
        assert (code, err) == (1, "")
        assert out.startswith("Certificate: NOT VALID")
        assert reason in out
        code, out, _ = run("verify", *argv, "--target", "label", "--json")
        assert code == 1
        report = json.loads(out)
        assert not report["valid"]
        assert any(reason in text for text in report["reasons"])
    code, out, _ = run("verify", proof, tmp_path / "other.csv", "--target", "label", "--weight", "weight")
    assert code == 3
    assert out.startswith("Certificate: valid, but ABOUT ANOTHER PROBLEM")
    assert "the certificate is about other weights of the rows." in out
    assert run.json("verify", proof, tmp_path / "weighted.csv", "--target", "label", "--weight", "weight")["valid"]
    assert "is about the loss logistic" in run.error("verify", proof, data, "--target", "label", "--regression")


def test_sparse_data(run, tmp_path):
    lines = [f"{1 if k % 3 else 2} {k % 5}:{k % 7 + 1} {5 + k % 3}:1" for k in range(90)]
    (tmp_path / "data.svm").write_text("\n".join(lines))
    result = run.json("certify", tmp_path / "data.svm", "--k", "1", "--loss", "squared-hinge", "--out", tmp_path / "proof.npz")
    assert [feature["name"] for feature in result["features"]] == ["x5"]
    assert result["classes"] == [1, 2]
    assert run.json("verify", tmp_path / "proof.npz", tmp_path / "data.svm")["valid"]


def test_prepared_columns(run, tmp_path):
    """Medians and categories are learnt again from the same data, so the proof holds."""
    frame = FRAME.assign(city=np.where(FRAME.a > 0.3, "Rome", np.where(FRAME.b > 0, "Paris", "Oslo")))
    frame.loc[[3, 5], ["a", "city"]] = None
    frame.to_csv(tmp_path / "data.csv", index=False)
    argv = [tmp_path / "data.csv", "--target", "label", "--impute", "median", "--one-hot"]
    result = run.json("certify", *argv, "--k", "3", "--out", tmp_path / "proof.npz")
    assert result["size"] == 3
    assert run.json("verify", tmp_path / "proof.npz", *argv)["valid"]
    assert "X has shape (120, 6)" in run("verify", tmp_path / "proof.npz", *argv, "--drop", "city")[1]


def test_an_old_file_stays_until_a_new_one_is_whole(run, data, tmp_path, monkeypatch):
    proof = tmp_path / "proof.npz"
    run.ok("certify", data, "--target", "label", "--k", "2", "--out", proof)
    before = proof.read_bytes()

    def fail(*_, **__):
        raise OSError(28, "No space left on device", str(proof))

    monkeypatch.setattr("numpy.lib.format.write_array", fail)
    assert "No space left on device" in run.error("certify", data, "--target", "label", "--k", "3", "--out", proof)
    assert proof.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["data.csv", "proof.npz"]


def test_a_model_file_is_no_certificate(run, data, tmp_path):
    run.ok("fit", data, "--target", "label", "--k", "2", "--out", tmp_path / "model.json", "--quiet")
    said = run.error("verify", tmp_path / "model.json", data, "--target", "label")
    assert "model.json is a model file: it has coefficients and no proof; 'ellzero certify --out'" in said
    with pytest.raises(ez.InvalidInputError, match="is a model file"):
        ez.verify(tmp_path / "model.json", np.ones((3, 2)), [0, 1, 0])
