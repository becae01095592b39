"""Names, labels and paths that hold codes, formulas or megabytes: shown safely everywhere, kept as they are in files."""

import csv
import json
import os
import subprocess
import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from support.command_line import Command

import ellzero as ez
from ellzero.report.page import write_report

TITLE, RED, BACKWARDS, LINES = "\x1b]0;owned\x07name", "\x1b[31mred", "abc\u202edcba", "one\ntwo"
DOLLARS, FORMULA, HIDDEN, SEQUENCE = r"$\frac{", "=HYPERLINK(1)", "_hidden", "\x9b31m"
NAMES = [TITLE, RED, BACKWARDS, LINES, DOLLARS, "=2+3", HIDDEN, SEQUENCE, "n" * 5000, ""]
RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, len(NAMES)))
SIGNAL = X @ np.linspace(2.0, 1.0, len(NAMES))
FRAME = pd.DataFrame(X, columns=NAMES)
LABELS = np.where(SIGNAL > 0.0, FORMULA, "\x1b[31mno")


def assert_safe(text):
    """Nothing in the text moves a cursor, changes a colour or turns words around, and no line is very long."""
    assert text.replace("\n", "").isprintable(), text
    assert max(map(len, text.splitlines()), default=0) < 2000


@pytest.fixture
def command(capsys):
    return Command(capsys)


@pytest.fixture
def data(tmp_path):
    """A table whose file, columns and labels are hostile; its last column has no name that a table could have."""
    folder = tmp_path / "\x1b[2J\u202e"
    folder.mkdir()
    file = folder / "table.csv"
    FRAME.iloc[:, :-1].assign(**{"target\x07": LABELS}).to_csv(file, index=False)
    return file


COMMANDS = {
    "fit": ["--k", "9"],
    "cv": ["--select", "size", "--max-support", "9", "--cv", "3"],
    "path": ["--max-support", "9"],
    "certify": ["--k", "2", "--time-limit", "5"],
    "report": ["--max-support", "3", "--time-limit", "0"],
}
MISTAKES = [
    ["--target", RED],
    ["--target", "target\x07", "--drop", TITLE + "x"],
    ["--target", "target\x07", "--positive", RED],
    ["--target", "target\x07", "--regression"],
    ["--target", "target\x07", "--loss", RED],
    ["--target", "target\x07", "--" + RED],
    ["--target", "target\x07", "--out", "\x1b[2J/no/where"],
    ["--target", TITLE],
]


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_show_no_codes(command, data, name):
    out = data.with_name(f"{RED}.{'html' if name == 'report' else 'out'}")
    code, text, errors = command(name, data, "--target", "target\x07", *COMMANDS[name], "--out", out)
    assert code == 0, errors
    assert_safe(text)
    assert_safe(errors)
    if name != "report":
        assert r"\x1b[31m" in text
    assert out.exists()


@pytest.mark.parametrize("mistake", MISTAKES, ids=repr)
def test_errors_show_no_codes(command, data, mistake):
    code, text, errors = command("certify" if "--positive" in mistake else "fit", data, "--out", data.with_name("m"), *mistake)
    assert code == 2
    assert text == ""
    assert_safe(errors)
    assert [line.startswith("ellzero: error: ") for line in errors.splitlines()] in ([True], [False, True])  # after a note


def test_json_holds_names_and_labels_as_they_are(command, data):
    code, text, _ = command("fit", data, "--target", "target\x07", "--k", "9", "--json")
    assert code == 0
    assert_safe(text.replace("n" * 5000, ""))
    result = json.loads(text)
    assert {feature["name"] for feature in result["features"]} == set(NAMES[:-1])
    assert set(result["classes"]) == {FORMULA, "\x1b[31mno"}
    assert result["target"] == "target\x07"


@pytest.mark.parametrize("to_file", [True, False])
def test_predictions_are_no_formulas(command, data, to_file):
    model, table = data.with_name("model.json"), data.with_name("predictions.csv")
    command.ok("fit", data, "--target", "target\x07", "--k", "9", "--out", model)
    argv = [
        "predict",
        model,
        data,
        "--proba",
        "--decision",
        "--keep",
        f'"{LINES}","=2+3"',
        *(["--out", table] if to_file else []),
    ]
    text = command.ok(*argv)
    written = table.read_text(encoding="utf-8") if to_file else text
    assert (text == "") == to_file
    assert_safe(written)
    header, *rows = csv.reader(written.splitlines(keepends=True))
    assert header[:3] == [LINES, "'=2+3", "prediction"]
    predicted = [row[2] for row in rows]
    assert set(predicted) == {f"'{FORMULA}", r"\x1b[31mno"}
    assert [float(row[1]) for row in rows] == pytest.approx(X[:, 5])  # negative numbers stay numbers
    raw = command.json("predict", model, data)["predictions"]
    assert [label == FORMULA for label in raw] == [cell == f"'{FORMULA}" for cell in predicted]
    assert set(raw) == {FORMULA, "\x1b[31mno"}


def test_a_table_of_coefficients_is_no_formula(command, data):
    table = data.with_name("path.csv")
    command.ok("path", data, "--target", "target\x07", "--max-support", "9", "--out", table)
    with table.open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    assert "'=2+3" in header
    assert r"\x1b[31mred" in header
    assert all(float(cell) is not None for row in rows for cell in row)


def test_standard_output_that_cannot_write_everything(data):
    FRAME.iloc[:, :1].set_axis(["größe"], axis=1).assign(target=np.where(SIGNAL > 0, "é", "e")).to_csv(data, index=False)
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    argv = [sys.executable, "-m", "ellzero", "fit", data, "--target", "target", "--k", "1"]
    for more in ([], ["--json"]):
        done = subprocess.run([*argv, *more], capture_output=True, env=env, check=False)
        assert done.returncode == 0, done.stderr
        assert b"gr\\xf6\\xdfe" in done.stdout


def test_results_show_no_codes():
    path = ez.fit_path(FRAME, LABELS, max_support=9)
    stability = ez.stability_selection(FRAME, LABELS, k=5, n_subsamples=4)
    solution = ez.solve(FRAME, LABELS, k=2, lambda_2=0.1, time_limit=5.0)
    fitted = ez.L0ClassifierCV(cv=2, max_support=10).fit(FRAME, LABELS)
    for result in (path, path[-1], stability, solution, solution.model, solution.certificate, fitted, fitted.cv_results_):
        assert_safe(repr(result))
        assert_safe(str(result))
    assert r"\x1b]0;owned\x07name" in repr(path[-1])
    assert repr(path[-1]).count("\n") == len(path[-1].support)
    assert path[-1].names == NAMES


def test_errors_and_warnings_of_estimators_show_no_codes(tmp_path):
    y = LABELS.copy()
    y[0] = RED
    with pytest.raises(ValueError, match=r"y has one of class \\x1b\[31mred") as caught:
        ez.L0ClassifierCV(cv=3).fit(FRAME, y)
    assert_safe(str(caught.value))
    y[1] = RED
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        ez.L0ClassifierCV(cv=3, max_support=2).fit(FRAME, y)
    assert any(r"class \x1b[31mred has only 2 rows" in str(warning.message) for warning in seen)
    assert seen[0].filename == __file__
    assert all(str(warning.message).isprintable() for warning in seen)
    model = ez.L0Classifier(k=2).fit(FRAME, LABELS)
    for names in (NAMES[::-1], [f"{name}\x1b" for name in NAMES]):
        with pytest.raises(ValueError, match="feature names should match") as caught:
            model.predict(FRAME.set_axis(names, axis=1))
        assert_safe(str(caught.value))
    with pytest.raises(ValueError, match="X must hold real numbers, got ") as caught:
        ez.L0Classifier().fit(np.array([["\x1b" * 5000, "1"]] * 90, dtype=object), LABELS)
    assert_safe(str(caught.value))
    (tmp_path / RED).write_text("no array")
    with pytest.raises(ez.InvalidInputError, match="is not a NumPy array") as caught:
        ez.open_columns(tmp_path / RED)
    assert_safe(str(caught.value))


def test_a_label_of_thirty_megabytes_makes_a_short_message():
    y = LABELS.astype(object)
    y[0] = "z" * 30_000_000
    with pytest.raises(ez.InvalidInputError, match="cv needs at least two rows of each class") as caught:
        ez.L0ClassifierCV(cv=3).fit(X, y)
    assert len(str(caught.value)) < 2000


def test_pictures_of_any_name(tmp_path):
    path = ez.fit_path(FRAME, LABELS, max_support=9)
    fitted = ez.L0ClassifierCV(cv=2, max_support=10).fit(FRAME, LABELS)
    stability = ez.stability_selection(FRAME, LABELS, k=9, n_subsamples=4)
    axes = [path.plot(), fitted.cv_results_.plot_supports(), fitted.cv_results_.plot_supports(along=True), stability.plot()]
    for place, ax in enumerate(axes):
        ax.figure.savefig(tmp_path / f"{place}.svg")
        ax.figure.savefig(tmp_path / f"{place}.png")
        plt.close(ax.figure)
    legend = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert len(legend) == 9
    assert any(HIDDEN in label for label in legend)
    ticks = [label.get_text() for label in axes[3].get_yticklabels()]
    assert r"\$\frac{" in ticks
    assert max(map(len, [*legend, *ticks])) <= 41
    assert all(label.isprintable() for label in [*legend, *ticks])


def test_a_page_shows_no_codes_and_its_code_is_safe(tmp_path):
    labels = np.array(["ok", RED, "x\nimport os  #"])[np.arange(90) % 3]
    file = tmp_path / "report.html"
    summary = write_report(
        file, FRAME, labels, target=TITLE, source=RED, max_support=3, cv=2, time_limit=0, algorithm="cd", notes=[LINES + "\x1b"]
    )
    page = file.read_text(encoding="utf-8")
    assert page.replace("\n", "").isprintable()
    shown = [summary["target"], summary["title"], *summary["classes"], *summary["data"]["notes"], summary["lead"]]
    shown += [feature["name"] for feature in summary["features"]]
    assert all(text.isprintable() for text in shown)
    assert all(eval(feature["key"]) in NAMES for feature in summary["features"])
    assert [eval(label) for label in summary["code"]["labels"]] == sorted(set(labels.tolist()))
    for block in summary["code"]["blocks"]:
        assert "".join(block["parts"]).replace("\n", "").isprintable()
    command = next(block for block in summary["code"]["blocks"] if block["title"] == "Command line")
    words = command["parts"][0].removeprefix("ellzero fit ").removesuffix(" --k ")
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {words}"], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == [RED, "--target", TITLE]


def test_a_model_file_keeps_every_name(tmp_path):
    model = ez.L0Classifier(k=3).fit(FRAME, LABELS)
    model.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_text(encoding="utf-8").replace("\n", "").isprintable()
    loaded = ez.load(tmp_path / "model.json")
    assert loaded.feature_names_in_.tolist() == NAMES
    assert loaded.classes_.tolist() == model.classes_.tolist()


def test_half_a_character_cannot_be_saved(tmp_path):
    names = pd.Index([*NAMES[:-1], "half \ud800"], dtype=object)
    model = ez.L0Classifier(k=3).fit(FRAME.set_axis(names, axis=1), LABELS)
    with pytest.raises(ez.InvalidInputError, match="one holds half a character"):
        model.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []
