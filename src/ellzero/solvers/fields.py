"""Make objects of the core from Python values: fields are set by name, and enums from the names of their members."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from ellzero.base.validation import known

T = TypeVar("T")


def core_object(kind: type[T], **values: object) -> T:
    """Return a new object of a core class with these fields set; None leaves a field at the core's default.

    >>> from ellzero import _core
    >>> core_object(_core.PathOptions, algorithm="local_search", n_lambda=None).n_lambda
    100
    """
    out = kind()
    for name, value in known(values).items():
        default = getattr(out, name)
        setattr(out, name, type(default)[value] if isinstance(default, Enum) else value)
    return out
