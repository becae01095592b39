"""Where results are written: through links, and two writers of one place."""

import os
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import pytest

import ellzero as ez
from ellzero.conversion import folder as folders

COMMANDS = {
    "fit": ["--k", "1"],
    "path": ["--max-support", "2"],
    "certify": ["--k", "1", "--time-limit", "5"],
    "report": ["--max-support", "2", "--time-limit", "0"],
}


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("before", [b"old", None], ids=["over a file", "where no file is yet"])
def test_a_link_stays_a_link(run, data, tmp_path, command, before):
    """What is written goes where the link leads; in its place, it would be found by nobody else."""
    (tmp_path / "place").mkdir()
    file, link = tmp_path / "place" / "file", tmp_path / "link"
    if before is not None:
        file.write_bytes(before)
    link.symlink_to("place/file")
    run.ok(command, data, "--target", "label", *COMMANDS[command], "--out", link)
    assert link.is_symlink()
    assert os.readlink(link) == "place/file"
    assert file.stat().st_size > 100
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["data.csv", "file", "link", "place"]


def test_links_that_lead_nowhere(run, data, tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "away").symlink_to(tmp_path / "no folder" / "file")
    (tmp_path / "device").symlink_to("/dev/null")
    for name, sentence in (("a", "leads nowhere"), ("away", "there is no folder"), ("device", "is no ordinary file")):
        assert sentence in run.error("fit", data, "--target", "label", "--k", "1", "--out", tmp_path / name)
        assert (tmp_path / name).is_symlink()


def store(path, value):
    with ez.ColumnWriter(path, 3, 2, dtype="float64", overwrite=True) as writer:
        writer.append(np.full((3, 2), value))


def test_a_folder_that_was_just_made_is_no_leftover(tmp_path, monkeypatch):
    """Another writer comes between the making of a folder and its lock: it waits, and removes nothing."""
    make, others = tempfile.mkdtemp, []

    def interrupted(*args, **settings):
        made = make(*args, **settings)
        if not others:
            others.append(threading.Thread(target=store, args=(tmp_path / "out", 2.0)))
            others[0].start()
            time.sleep(0.3)
        return made

    monkeypatch.setattr(folders.tempfile, "mkdtemp", interrupted)
    store(tmp_path / "out", 1.0)
    others[0].join()
    found = ez.open_columns(tmp_path / "out").take(np.arange(2))
    assert found[0, 0] in (1.0, 2.0)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_conversions_to_one_place(tmp_path):
    """Processes that convert to one place again and again end well, and leave one whole store."""
    np.save(tmp_path / "X.npy", np.arange(12.0).reshape(4, 3))
    code = "import ellzero as ez\nfor _ in range(60): ez.convert('X.npy', 'out', overwrite=True)"
    running = [subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE) for _ in range(3)]
    ended = [(process.communicate(timeout=250)[1].decode(), process.returncode) for process in running]
    assert ended == [("", 0)] * 3
    np.testing.assert_array_equal(ez.open_columns(tmp_path / "out").take(np.arange(3)), np.arange(12.0).reshape(4, 3))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["X.npy", "out"]
