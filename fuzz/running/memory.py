"""The memory of this process: its peak, which can be set back, and a limit of its address space."""

from __future__ import annotations

import contextlib
import os
import resource

__all__ = ["limit_memory", "peak_memory", "reset_peak", "resident_memory"]


def resident_memory() -> int:
    """Return the resident memory of this process, in bytes."""
    return _status("VmRSS")


def peak_memory() -> int:
    """Return the most resident memory, in bytes, that this process has had since the peak was set back."""
    return _status("VmHWM")


def _status(name: str) -> int:
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    return 0


def reset_peak() -> None:
    """Set the peak back to the present memory, where the system allows it."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def limit_memory(more: int) -> None:
    """Allow this many bytes of address space beyond the present ones, unless a sanitizer needs all of it."""
    if "san.so" in os.environ.get("LD_PRELOAD", ""):
        return
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + more, now + more))
