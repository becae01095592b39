"""One seed: a good file of some format, and many changes of it, each read as users do."""

from __future__ import annotations

import shutil
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import ellzero as ez
from fuzz.files.changes import change_file
from fuzz.files.formats import FORMATS, Format
from fuzz.records import Record
from fuzz.running.memory import peak_memory, reset_peak
from fuzz.running.pool import Task

__all__ = ["CHANGES", "KEPT", "run"]

CHANGES = 40  # of each good file
KEPT = Path("build/fuzz/files")  # files that showed something
MEMORY, TIMES = 256 * 2**20, 10  # bytes that reading a file may take, or this multiple of its size
SECONDS = 20.0  # that reading a small file may take


def run(task: Task) -> Record:
    """Write a good file, read it, and then read changed copies of it."""
    rng = np.random.default_rng([task.seed, 4])
    name = task.subject or str(rng.choice(list(FORMATS)))
    record, begin = Record(name, task.seed), time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name_of_folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name_of_folder)
        good = folder / "good" / FORMATS[name].ending
        good.parent.mkdir()
        FORMATS[name].write(good, rng)
        for number in range(CHANGES + 1):
            copy = folder / "copy" / FORMATS[name].ending
            shutil.rmtree(copy.parent, ignore_errors=True)
            shutil.copytree(good.parent, copy.parent)
            words = change_file(copy, rng) if number else "as it is"
            before = len(record.findings)
            read(record, FORMATS[name], copy, f"{number}: {words}", folder / "backup")
            if len(record.findings) > before:
                keep(folder / "backup", task.seed, number)
    record.seconds = time.perf_counter() - begin
    return record


def read(record: Record, kind: Format, path: Path, words: str, backup: Path) -> None:
    """Read a file; only success and a refusal in a sentence are allowed, within limits of memory and time."""
    shutil.rmtree(backup, ignore_errors=True)
    shutil.copytree(path.parent, backup)
    size = sum(file.stat().st_size for file in path.parent.rglob("*") if file.is_file())
    reset_peak()
    memory, begin = peak_memory(), time.perf_counter()
    record.count("files")
    try:
        record.count(kind.read(path))
    except (ez.InvalidInputError, FileNotFoundError) as error:
        record.count("refused")
        if "\n" in str(error) or len(str(error)) > 1000 or "\x1b" in str(error):
            record.find("a refusal that is no sentence", "low", f"{words}: {str(error)!r:.400}")
    except Exception as error:
        severity = "critical" if isinstance(error, AssertionError) else "medium"
        record.find(f"raises {type(error).__name__}", severity, f"{words}: {error}\n{traceback.format_exc(limit=-5)}")
    grown, seconds = peak_memory() - memory, time.perf_counter() - begin
    if grown > max(MEMORY, TIMES * size):
        record.find("memory", "medium", f"{words}: {grown / 1e6:.0f} MB for a file of {size} bytes")
    if seconds > SECONDS:
        record.find("slow", "medium", f"{words}: {seconds:.1f} s for a file of {size} bytes")


def keep(folder: Path, seed: int, number: int) -> None:
    """Keep a copy of the file that showed something."""
    shutil.copytree(folder, KEPT / f"{seed}-{number}", dirs_exist_ok=True)
