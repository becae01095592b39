"""Changes of files chosen by libFuzzer, which keeps those that reach new lines of the package's readers (needs Atheris)."""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["run_atheris"]

PARTS = ["ellzero.base", "ellzero.exact.verifier", "ellzero.exact.snapshot_file", "ellzero.exact.checkpoint", "ellzero.design"]
PARTS += [
    "ellzero.conversion",
    "ellzero.problem.model_file",
    "ellzero.estimators.model_file",
    "ellzero.tables",
    "ellzero.cli.data",
]
GOOD = 8  # files to begin with


def run_atheris(name: str, runs: int) -> int:
    """Let libFuzzer change files of one format this many times; it ends the process at a finding and keeps the file."""
    import atheris

    with atheris.instrument_imports(include=PARTS):
        import ellzero as ez
        from fuzz.files.formats import FORMATS
    kind = FORMATS[name]
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    corpus = Path("build/fuzz/corpus") / name.replace(", ", "-").replace(" ", "-")
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in range(GOOD):
        good = folder / kind.ending
        kind.write(good, np.random.default_rng(seed))
        if good.is_dir():
            raise ez.InvalidInputError(f"format must be one of a single file, got {name!r}: libFuzzer changes no folders.")
        shutil.move(good, corpus / f"good-{seed}")

    def read(data: bytes) -> None:
        path = folder / kind.ending
        path.write_bytes(data)
        try:
            kind.read(path)
        except (ez.InvalidInputError, FileNotFoundError):
            return

    def change(data: bytes, most: int, seed: int) -> bytes:
        """Change the structure in half of the cases, and bytes as libFuzzer does in the others."""
        from fuzz.files.changes import changed_bytes

        if seed % 2:
            return bytes(atheris.Mutate(data, most))
        return changed_bytes(data, np.random.default_rng(seed))[0][:most]

    warnings.simplefilter("ignore")
    arguments: list[Any] = [sys.argv[0], f"-runs={runs}", "-rss_limit_mb=2048", "-timeout=20", "-max_len=100000", str(corpus)]
    atheris.Setup(arguments, read, custom_mutator=change)
    atheris.Fuzz()
    return 0
