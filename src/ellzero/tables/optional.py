"""Imports of optional modules."""

from __future__ import annotations

from typing import Any

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import import_whole


def need(module: str, extra: str = "cli") -> Any:
    """Import an optional module, or raise an error that says how to install it."""
    try:
        return import_whole(module)
    except ImportError:
        package = module.split(".")[0]
        raise InvalidInputError(f"{package} is needed for this and is not installed: pip install 'ellzero[{extra}]'") from None
