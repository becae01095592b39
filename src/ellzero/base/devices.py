"""Arrays in the memory of a device: how they are recognised, and how they come to the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

HOST = (1, 3, 11)
"""DLPack's numbers of devices whose memory is the host's: the processor's own, and that pinned for CUDA or ROCm."""


def is_on_device(array: object) -> bool:
    """Return whether an array is in the memory of a device, by DLPack's number of its kind."""
    place = getattr(array, "__dlpack_device__", None)
    return place is not None and not isinstance(array, np.ndarray) and int(place()[0]) not in HOST


def on_host(array: Any) -> NDArray[Any]:
    """Return an array in the memory of the host."""
    for method in ("get", "cpu"):  # CuPy's and PyTorch's
        if hasattr(array, method):
            array = getattr(array, method)()
    return np.asarray(array) if hasattr(array, "__array__") else np.from_dlpack(array)


def at_hand(values: Any) -> Any:
    """Return values unchanged, or from the device that holds them: labels and weights are few, and may be anywhere."""
    return on_host(values) if is_on_device(values) else values
