"""``ellzero convert``: write a data file as a column store."""

from __future__ import annotations

import argparse
import time

from ellzero.base.quoting import LONGEST_PATH, in_bytes, shown
from ellzero.base.signatures import arguments_of
from ellzero.cli.output import print_result
from ellzero.conversion import convert
from ellzero.design.column_files import read_about


def run(args: argparse.Namespace) -> int:
    """Convert, and print the store's size in one line."""
    start = time.monotonic()
    store = convert(args.data, **arguments_of(convert, {**vars(args), "progress": not args.quiet}))
    seconds = time.monotonic() - start
    about = read_about(store)
    size = sum(about["files"].values())
    labelled = "y.npy" in about["files"]
    result = {
        "command": "convert",
        "out": str(store),
        **{name: about[name] for name in ("n", "p", "storage", "dtype", "target")},
        "labelled": labelled,
        "bytes": size,
        "seconds": seconds,
    }
    target = "" if labelled else ", no target"
    found = f"{about['n']} rows, {about['p']} columns ({about['storage']}, {about['dtype']}){target}, {in_bytes(size)}"
    print_result(args, result, f"{shown(store, LONGEST_PATH)}: {found}, {seconds:.1f} s")
    return 0
