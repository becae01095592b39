"""A new user's hour: the built wheel in a clean environment, the README's example, and the command line from data to proof."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


def run(*command, cwd=None, **more):
    """What a command prints; its errors are shown when it fails."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=1500, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The folder with the programs of an environment in which nothing but the wheel and its extra was asked for."""
    folder = tmp_path_factory.mktemp("user")
    # The objects that `make` compiled serve the wheel, too: to compile all of them again takes as long as half of the tests.
    objects = ["-C", "build-dir=build/dev", "-C", "cmake.define.ELLZERO_TESTS=ON"]
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", *objects, "--outdir", folder / "wheels", ROOT)
    (wheel,) = (folder / "wheels").glob("ellzero-*.whl")
    run(sys.executable, "-m", "venv", folder / "venv")
    run(folder / "venv" / "bin" / "pip", "install", "--quiet", f"{wheel}[cli,plot]", cwd=folder)
    return folder / "venv" / "bin"


@pytest.fixture
def patients(tmp_path):
    """A table as people have them: an identifier, named columns, a category, labels in words; and new rows without labels."""
    rng = np.random.default_rng(7)
    columns = {f"marker {j}": rng.standard_normal(300).round(3) for j in range(12)}
    frame = pd.DataFrame(columns | {"ward": rng.choice(["north", "south"], 300)})
    score = 2.0 * frame["marker 2"] - 1.5 * frame["marker 5"] + (frame["ward"] == "north")
    frame.insert(0, "patient", [f"P{i:04d}" for i in range(300)])
    frame["outcome"] = np.where(score + rng.logistic(size=300) > 0.0, "ill", "well")
    frame.to_csv(tmp_path / "patients.csv", index=False)
    frame.drop(columns="outcome").head(20).to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


def test_readme(environment, tmp_path):
    readme = (ROOT / "README.md").read_text()
    code, output = (re.findall(rf"```{kind}\n(.*?)```", readme, flags=re.DOTALL) for kind in ("python", "text"))
    (tmp_path / "readme.py").write_text("\n".join(code))
    assert run(environment / "python", "readme.py", cwd=tmp_path) == "".join(output)


def test_from_data_to_proof(environment, patients):
    def ellzero(*words):
        return run(environment / "ellzero", *words, cwd=patients)

    reading = ["--target", "outcome", "--drop", "patient", "--one-hot"]
    fitted = json.loads(ellzero("fit", "patients.csv", *reading, "--k", "3", "--out", "model.json", "--json"))
    assert {feature["name"].split("=")[0] for feature in fitted["features"]} == {"marker 2", "marker 5", "ward"}
    ellzero("predict", "model.json", "new.csv", "--proba", "--out", "predictions.csv")
    predicted = pd.read_csv(patients / "predictions.csv")
    assert len(predicted) == 20
    assert set(predicted["prediction"]) <= {"ill", "well"}
    truth = pd.read_csv(patients / "patients.csv")["outcome"].head(20)
    assert (predicted["prediction"] == truth).mean() > 0.6
    proved = json.loads(ellzero("certify", "patients.csv", *reading, "--k", "3", "--out", "proof.npz", "--json"))
    assert proved["status"] == "optimal"
    assert proved["gap"] <= 1e-4
    assert "valid" in ellzero("verify", "proof.npz", "patients.csv", *reading)
    ellzero("report", "patients.csv", *reading, "--out", "report.html")
    page = (patients / "report.html").read_text()
    assert "marker 5" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_help(environment):
    out = run(environment / "ellzero", "--help")
    for command in ("fit", "predict", "path", "cv", "certify", "verify", "report"):
        assert command in out
