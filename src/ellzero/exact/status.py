"""The ways in which an exact search ends."""

from __future__ import annotations

from typing import Literal

Status = Literal[
    "optimal", "complete", "time_limit", "node_limit", "too_many", "interrupted", "precision", "failed", "improved"
]
ENDINGS: dict[Status, str] = {
    "optimal": "The proved gap is at most the requested one.",
    "complete": "All models that `alternatives` was to find are there.",
    "time_limit": "The time limit came first.",
    "node_limit": "The limit of nodes came first.",
    "too_many": "`alternatives` found more models than it may list.",
    "interrupted": "Ctrl-C ended the search.",
    "precision": "Nothing is left to search, but rounding keeps the proved gap above the very small one requested.",
    "failed": "A MIP solver gave up; the solution and the bound are those from before, and `message` says why.",
    "improved": "A search over swaps ended with its first better model; `improve` goes on from there, and never returns this.",
}
"""Every way a search can end, in a sentence."""
