"""Tables for the command line, and a way to run it."""

import json

import numpy as np
import pandas as pd

from ellzero.cli import main


def table(n=120, seed=0):
    """Numbers a to f, of which a, c and e matter, and the labels "no" and "yes"."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    score = 2.0 * frame.a - 1.5 * frame.c + frame.e + 0.5 * rng.normal(size=n)
    return frame.assign(label=np.where(score > 0.0, "yes", "no"))


def species(n=150, seed=0):
    """Three classes around three centres in the first two of five columns."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 3
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])[kind]
    values = np.column_stack([centres + rng.normal(size=(n, 2)), rng.normal(size=(n, 3))])
    return pd.DataFrame(values, columns=["length", "width", "x", "y", "z"]).assign(
        species=np.array(["ant", "bee", "cat"])[kind]
    )


def people():
    """A table with two categorical variables, of which one matters, and a target."""
    rng = np.random.default_rng(5)
    n = 300
    frame = pd.DataFrame(
        {
            "eye_colour": rng.choice(["dark_blue", "dark_grey", "red"], n),
            "town": rng.choice(list("abcde"), n),
            "size": rng.standard_normal(n),
            "noise": rng.standard_normal(n),
        }
    )
    score = 2.0 * (frame.eye_colour == "red") + frame["size"] + 0.5 * rng.standard_normal(n)
    return frame, np.where(score > 0.8, "yes", "no")


class Command:
    """Runs the command line in this process."""

    def __init__(self, capsys):
        self.capsys = capsys

    def __call__(self, *argv):
        """The exit code, standard output and standard error."""
        self.capsys.readouterr()
        code = main([str(part) for part in argv])
        out, err = self.capsys.readouterr()
        return code, out, err

    def ok(self, *argv):
        """Standard output of what must work."""
        code, out, err = self(*argv)
        assert code == 0, err
        return out

    def json(self, *argv):
        """The one JSON object that a command prints."""
        out = self.ok(*argv, "--json", "--quiet")
        assert out.count("\n") == 1
        return json.loads(out, parse_constant=lambda word: pytest_fail(word))

    def error(self, *argv):
        """The one sentence of what must not work."""
        code, out, err = self(*argv, "--quiet")
        assert code == 2, (code, out, err)
        assert out == ""
        assert err.startswith("ellzero: error: ")
        assert err.count("\n") == 1
        return err.removeprefix("ellzero: error: ").strip()


def pytest_fail(word):
    raise AssertionError(f"{word} is no JSON")
