"""The command line as a program of its own: start-up, pipes, Ctrl-C, exit codes, a terminal."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from support.interruption import listening

import ellzero as ez
from ellzero.cli.parser import EXAMPLES

PROGRAM = [sys.executable, "-m", "ellzero"]
AT_ONCE = "import sys; from ellzero.base import progress; progress.SECONDS_IN_SILENCE = -1.0"
AT_ONCE += "; from ellzero.cli import main; sys.exit(main())"
SPEAKING = [sys.executable, "-c", AT_ONCE]  # the same, which shows progress from the first moment on
HEAVY = ("pandas", "pyarrow", "sklearn", "matplotlib", "tqdm", "highspy")


def program(*argv, **how):
    return subprocess.run([*PROGRAM, *map(str, argv)], capture_output=True, text=True, timeout=250, **how)


def test_help_imports_nothing_heavy():
    code = f"""
import sys
from ellzero.cli import main
code = main(["certify", "--help"])
print([module for module in {HEAVY} if module in sys.modules], code)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[] 0"


def test_no_arguments_show_the_help():
    bare = program()
    assert bare.returncode == 0
    assert bare.stdout == program("--help").stdout
    assert bare.stderr == ""


def test_help_of_every_command_ends_with_examples():
    out = program("--help").stdout
    commands = [line.split()[0] for line in out.splitlines() if line.startswith("    ") and line[4:5].strip()]
    assert set(commands) == set(EXAMPLES) - {"main"}
    for command in commands:
        text = program(command, "--help").stdout
        examples = text.split("examples:\n")[1].splitlines()
        assert 2 <= len(examples) <= 3
        assert all(f"ellzero {command} " in line for line in examples)
    assert program("--version").stdout.strip() == f"ellzero {ez.__version__}"


@pytest.mark.skipif(sys.platform == "win32", reason="streams of a POSIX shell")
@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        ("> /dev/full", 2, "ellzero: error: standard output: No space left on device."),
        ("--json > /dev/full", 2, "ellzero: error: standard output: No space left on device."),
    ],
)
def test_streams_that_are_closed_or_full(data, tmp_path, redirection, code, said):
    model = tmp_path / "model.json"
    words = [*PROGRAM, "fit", data, "--target", "label", "--k", "2", "--out", model, "--quiet"]
    done = subprocess.run(
        ["bash", "-c", f'"$@" {redirection}', "bash", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert said in done.stderr
    assert model.exists()  # what was asked for is written before it is printed


def test_standard_input_that_is_closed(data):
    words = [*PROGRAM, "fit", "-", "--target", "label"]
    done = subprocess.run(["bash", "-c", '"$@" <&-', "bash", *words], capture_output=True, text=True, timeout=250, check=False)
    assert (done.returncode, done.stderr) == (2, "ellzero: error: standard input is empty.\n")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="a folder in which nobody can make files")
def test_a_place_where_nothing_can_be_written(data):
    done = program("fit", data, "--target", "label", "--k", "1", "--out", "/proc/model.json", "--quiet")
    assert done.returncode == 2
    assert done.stderr.startswith("ellzero: error: /proc/model.json")
    assert ".part" not in done.stderr


def test_exit_codes_and_streams(data, tmp_path):
    words = ["certify", data, "--target", "label", "--k", "2", "--out", tmp_path / "proof.npz", "--json"]
    good = subprocess.run([*SPEAKING, *map(str, words)], capture_output=True, text=True, timeout=250, check=False)
    assert good.returncode == 0
    assert json.loads(good.stdout)["status"] == "optimal"
    assert "ellzero: exact search: gap at most" in good.stderr
    quiet = program("verify", tmp_path / "proof.npz", data, "--target", "label", "--quiet")
    assert (quiet.returncode, quiet.stderr) == (0, "")
    assert program("verify", tmp_path / "proof.npz", data, "--target", "label", "--drop", "a").returncode == 1
    bad = program("path", tmp_path / "none.csv", "--target", "label")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == f"ellzero: error: {tmp_path / 'none.csv'}: No such file or directory.\n"
    assert program("path").returncode == 2


def test_pipes(data):
    with open(data) as stream:
        piped = program("path", "-", "--target", "label", "--json", stdin=stream)
    assert json.loads(piped.stdout) == json.loads(program("path", data, "--target", "label", "--json").stdout)
    shell = f"'{sys.executable}' -m ellzero path <(cat '{data}') --target label --json --quiet"
    named = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert json.loads(named.stdout) == json.loads(piped.stdout)


def test_a_reader_that_leaves_early(data):
    """`ellzero ... | head -1` ends without a traceback."""
    with subprocess.Popen(
        [*PROGRAM, "path", data, "--target", "label", "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == ""
        assert child.wait(timeout=250) == 0


def hard_problem(folder):
    rng = np.random.default_rng(0)
    np.savez(folder / "hard.npz", X=rng.normal(size=(200, 400)), y=rng.random(200) > 0.5)
    return folder / "hard.npz"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_keeps_what_is_proved(tmp_path):
    data, proof = hard_problem(tmp_path), tmp_path / "proof.npz"
    argv = ["certify", data, "--k", "12", "--lambda-2", "1e-4", "--out", proof, "--json"]
    out, err, code = interrupted(argv)
    assert code == 130
    result = json.loads(out)
    assert result["status"] == "interrupted"
    assert result["gap"] > 1e-4
    assert err.splitlines()[-1] == "ellzero: interrupted; what was found is written"
    assert program("verify", proof, data).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_elsewhere_leaves_nothing(tmp_path):
    X, y, _ = ez.datasets.make_classification(1500, 3000, 400, s=0.2, random_state=0)
    np.savez(tmp_path / "large.npz", X=X, y=y)
    argv = ["path", tmp_path / "large.npz", "--lambda-2", "1e-4", "--lambda-min-ratio", "1e-4", "--n-lambda", "1000"]
    out, err, code = interrupted([*argv, "--out", tmp_path / "path.csv"])
    assert (out, code) == ("", 130)
    assert err.splitlines()[-1] == "ellzero: interrupted"
    assert "Traceback" not in err
    assert not (tmp_path / "path.csv").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_in_the_proof_of_a_report_shows_in_its_exit_code(tmp_path):
    X, y, _ = ez.datasets.make_classification(300, 600, 20, s=1.0, random_state=0)
    np.savez(tmp_path / "hard.npz", X=X, y=y)
    argv = ["report", tmp_path / "hard.npz", "--shrinkage", "1e-3", "--max-support", "12", "--out", tmp_path / "page.html"]
    out, err, code = interrupted([*argv, "--time-limit", "100"], "exact search")
    assert code == 130
    assert err.splitlines()[-1] == "ellzero: interrupted; what was found is written"
    assert "A longer search may prove more." in out or "Nothing is proved so far" in out
    assert (tmp_path / "page.html").exists()


def interrupted(argv, sign=""):
    """What a program says that gets Ctrl-C after its first sign of progress, or the first that contains a word."""
    with subprocess.Popen(listening(argv), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        while sign not in (first := child.stderr.readline()):
            assert first.startswith("ellzero: ")
        assert first.startswith("ellzero: ")
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=250)
    return out, err, child.returncode


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals")
@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_gets_a_bar(data, quiet):
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    argv = ["path", str(data), "--target", "label", *(["--quiet"] if quiet else [])]
    done = subprocess.run([*SPEAKING, *argv], stdout=subprocess.PIPE, stderr=follower, timeout=250)
    os.close(follower)
    shown = b""
    try:
        while part := os.read(leader, 65536):
            shown += part
    except OSError:  # the terminal's other end is closed
        pass
    os.close(leader)
    assert done.returncode == 0
    assert (b"100 %|" in shown) == (not quiet)
    assert quiet or shown.endswith(b"\n")
