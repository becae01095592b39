"""One sentence for what libraries say about a device that is out of memory or gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import Any

from ellzero.base.errors import EllzeroError, InvalidInputError
from ellzero.base.quoting import in_bytes, one_line


def is_cupy(array: Any) -> bool:
    """Return whether an array is one of CuPy."""
    return type(array).__module__.split(".")[0] == "cupy"


@contextmanager
def told(array: Any, needed: int) -> Iterator[None]:
    """Work on the device of an array, where CuPy must be told so; a step needs at most `needed` more bytes."""
    try:
        with array.device if is_cupy(array) else nullcontext():
            yield
    except (EllzeroError, TypeError):
        raise
    except (RuntimeError, MemoryError) as error:
        if isinstance(error, MemoryError) and not type(error).__module__.startswith("cupy"):
            raise  # the host's
        said = one_line(error)
        if "memory" in said.lower() or "RESOURCE_EXHAUSTED" in said:
            shape = " x ".join(f"{size:,}" for size in array.shape)
            raise InvalidInputError(
                f"the device of X ({shape}) is out of memory: it needs about {in_bytes(needed)} more: {said}"
            ) from None
        raise InvalidInputError(f"X cannot be read from its device: {said}") from None


def told_of_store(method: Callable[..., Any]) -> Callable[..., Any]:
    """Tell what happens in a method of something that has a store and knows how much memory its steps need."""

    @wraps(method)
    def wrapped(self: Any, *arguments: Any) -> Any:
        with told(self.store.array, self.needed):
            return method(self, *arguments)

    return wrapped
