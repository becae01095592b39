"""Reads hostile files of a group of formats in a process of its own, and tells what came of each: text, CPU seconds, memory."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path

import ellzero as ez
from support.hostile_bytes import RAN

MOST_MEMORY, MOST_TIMES, MOST_SECONDS = 256e6, 10, 10.0
MOST_ADDRESSES = 6 << 30


def peak(reset: bool = False) -> int:
    """Return the most resident memory since the last reset, in bytes."""
    if reset:
        gc.collect()
        with contextlib.suppress(OSError, AttributeError):  # elsewhere the peak of the whole process is what is known
            ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5")
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def size_of(path: Path) -> int:
    """Return the bytes of a file or of all files of a folder, without following links."""
    if path.is_symlink() or path.is_file():
        return path.lstat().st_size
    return sum(file.lstat().st_size for file in path.rglob("*") if file.is_file())


def complaint(text: str) -> str | None:
    """Return why a refusal is none: it must be one short sentence without codes."""
    if not text.isprintable() or len(text) > 1200:
        return "no sentence"
    if "it was read" in text:
        return "it was read"
    return None if text.rstrip().endswith((".", "?")) else "no sentence"


def examine(kind, path: Path) -> dict[str, object]:
    """Read one file, and judge."""
    size, before, begin = size_of(path), peak(reset=True), time.process_time()
    try:
        text = kind.read(path)
        wrong = complaint(text)
    except ez.InvalidInputError as error:
        text = str(error)
        wrong = complaint(text)
    except FileNotFoundError as error:  # a link that leads nowhere, or a file that belongs to another and is missing
        text, wrong = str(error), None if error.filename and not os.path.exists(error.filename) else "another error"
    except BaseException as error:  # also of the command line, which must not exit
        text, wrong = f"{type(error).__name__}: {str(error)[:300]}", "another error"
    seconds, memory = time.process_time() - begin, peak() - before
    if os.path.exists(RAN):
        wrong = "it ran code"
    elif memory > max(MOST_MEMORY, MOST_TIMES * size):
        wrong = "memory"
    elif seconds > MOST_SECONDS:
        wrong = "time"
    return {"wrong": wrong, "text": text[:1500], "seconds": seconds, "memory": memory, "size": size}


def main(module: str, folder: str) -> None:
    """Write and read every kind of each format of a module; one line of JSON for each."""
    warnings.simplefilter("ignore")
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))  # so that no mistake takes the whole machine
    for ending, make in importlib.import_module(f"support.{module}").FORMATS.items():
        place = Path(ending.replace(" ", "-").replace(".", "-"))
        place.mkdir()
        kinds = make(place)
        for number, kind in enumerate(kinds.values()):
            path = place / str(number) / ending.rpartition(" ")[2]
            path.parent.mkdir()
            kind.write(path)
        gc.freeze()  # what is there by now is not looked at again
        for number, (what, kind) in enumerate(kinds.items()):
            name = f"{ending}: {what}"
            print(json.dumps({"begins": name}), flush=True)
            found = examine(kind, place / str(number) / ending.rpartition(" ")[2])
            print(json.dumps({"name": name, **found}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
