"""The few exception types of ellzero."""

__all__ = ["ClusterError", "DatasetError", "EllzeroError", "InvalidInputError"]


class EllzeroError(Exception):
    """Base class of everything that ellzero raises on purpose."""


class InvalidInputError(EllzeroError, ValueError):
    """An argument cannot be used; the message names it and says what was expected."""


class DatasetError(EllzeroError, OSError):
    """A real dataset could not be fetched, read or stored; the message says which file or address, and why."""


class ClusterError(EllzeroError, RuntimeError):
    """Workers of a cluster are missing, or cannot do their part; the message says which and why."""
