"""Imports that neither Ctrl-C nor another thread can leave half done."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

# Some packages import each other in circles: threads that begin at different places of a circle would see half of it.
one_at_a_time = threading.RLock()


@contextmanager
def whole_imports(*modules: str) -> Iterator[None]:
    """Hold Ctrl-C back until the imports inside a `with` block are done, and then let it act.

    An interrupted import leaves parts of other people's packages behind, and whatever needs these packages fails from then on,
    until Python is restarted. Every import inside of a function therefore stands in such a block. Only the main thread gets
    Ctrl-C: in other threads the block only waits for its turn. Given the names of its modules, it costs nothing once they are
    there.
    """
    if modules and sys.modules.keys() >= set(modules):
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    seen: list[tuple[int, Any]] = []
    try:
        if callable(handler):  # else Ctrl-C is ignored, or ends the process at once
            signal.signal(signal.SIGINT, lambda *event: seen.append(event))
    except ValueError:  # not the main thread, which alone may set a handler
        handler = None
    try:
        with one_at_a_time:
            yield
    finally:
        if callable(handler):
            signal.signal(signal.SIGINT, handler)
            if seen:
                handler(*seen[0])


def import_whole(name: str) -> Any:
    """Import a module by its name, and hold Ctrl-C back meanwhile."""
    with whole_imports(name):
        return import_module(name)
