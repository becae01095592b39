"""The few exception types of ellzero."""

__all__ = ["EllzeroError", "InvalidInputError"]


class EllzeroError(Exception):
    """Base class of everything that ellzero raises on purpose."""


class InvalidInputError(EllzeroError, ValueError):
    """An argument cannot be used; the message names it and says what was expected."""
