"""The exceptions of ellzero, and its warning. Their messages are safe to print, whatever they quote."""

from ellzero.base.quoting import safe_line


class EllzeroError(Exception):
    """Base class of all errors that ellzero raises on purpose."""

    def __str__(self) -> str:
        return safe_line(super().__str__())


class InvalidInputError(EllzeroError, ValueError):
    """Error about an invalid argument; the message names it and says what was expected."""


class DatasetError(EllzeroError, OSError):
    """Error about a dataset that could not be downloaded, read or stored; the message says which file and why."""


class ClusterError(EllzeroError, RuntimeError):
    """Error about workers of a cluster that are missing or fail; the message says which and why."""


class FragileModelWarning(UserWarning):
    """Warning about a fitted classifier with too little data: few rows of a class, or perfectly separated classes."""
