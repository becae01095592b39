"""Batches of svmlight/libsvm: sparse rows of text with their labels."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.base.quoting import one_line


def svmlight_batches(content: IO[bytes], shown: str, size: int) -> Iterator[tuple[Any, NDArray[np.float64], int]]:
    """Yield a matrix of rows, the labels, and the length of the text of about `size` bytes at a time.

    Indices are as in the file: a matrix is as wide as the largest index of its rows wants.
    """
    line = 0
    for text in line_blocks(content, size):
        yield *parsed(text, shown, line), len(text)
        line += text.count(b"\n")


def line_blocks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """Yield whole lines, about `size` bytes of them at a time."""
    rest: list[bytes] = []
    while block := stream.read(size):
        cut = block.rfind(b"\n") + 1
        if not cut:  # the line is longer than the block
            rest.append(block)
            continue
        yield b"".join([*rest, block[:cut]])
        rest = [block[cut:]]
    if any(rest):
        yield b"".join(rest)


def parsed(text: bytes, shown: str, line: int) -> tuple[Any, Any]:
    """Parse some lines; `line` is the number of lines before them, for errors."""
    with whole_imports():
        from sklearn.datasets import load_svmlight_file  # slow to import

    try:
        return load_svmlight_file(io.BytesIO(text), zero_based=True)
    except (ValueError, OverflowError) as error:
        where, reason = "", one_line(error)  # lines may be bad only together
        for number, content in enumerate(io.BytesIO(text), line + 1):
            try:
                load_svmlight_file(io.BytesIO(content), zero_based=True)
            except (ValueError, OverflowError) as first:
                where, reason = f" in line {number}", one_line(first)
                break
        raise InvalidInputError(
            f"{shown} cannot be read as svmlight (lines of 'label index:value ...'){where}: {reason}."
        ) from None


def whole_numbers(y: NDArray[np.float64]) -> NDArray[Any]:
    """Return labels as integers if all of them are whole numbers."""
    whole = np.isfinite(y).all() and (y == np.round(y)).all() and (np.abs(y) < 2**53).all()
    return y.astype(np.int64) if whole else y
