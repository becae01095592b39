"""The fixed part of the fuzzer: where its seeds begin, how much of it runs, and which findings count."""

import os

FIRST = 1_000_000
SHARE = float(os.environ.get("ELLZERO_FUZZ_SHARE", "1"))  # of the cases, where every call takes long (sanitizers)


def findings(record):
    return [f"{record.subject} {record.seed}: {f.kind}: {f.words}" for f in record.findings if f.severity != "low"]
