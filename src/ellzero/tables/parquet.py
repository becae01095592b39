"""Parquet files, opened and their columns' names checked."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from ellzero.tables.optional import need
from ellzero.tables.streams import readable
from ellzero.tables.text import refuse_twice


def open_parquet(content: Any, shown: str, stack: ExitStack) -> Any:
    """Return the file, whose columns must have different names; it reads only what is requested."""
    need("pyarrow")
    with readable(shown, "Parquet"):
        file = stack.enter_context(need("pyarrow.parquet").ParquetFile(content, pre_buffer=False))
    refuse_twice(shown, file.schema_arrow.names)
    return file
