"""The ways in which an exact search ends."""

from __future__ import annotations

from typing import Literal

Status = Literal[
    "optimal", "complete", "time_limit", "node_limit", "too_many", "interrupted", "precision", "failed", "improved"
]
ENDINGS: dict[Status, str] = {
    "optimal": "The proved gap is at most the one that was asked for.",
    "complete": "All models that `alternatives` was asked for are there.",
    "time_limit": "The time limit came first.",
    "node_limit": "The limit of nodes came first.",
    "too_many": "`alternatives` found more models than it may list.",
    "interrupted": "Ctrl-C ended the search.",
    "precision": "Nothing is left to search, but rounding keeps the proved gap above a very small one that was asked for.",
    "failed": "A MIP solver gave up; the solution and the bound are those from before, and `message` says why.",
    "improved": "A search over swaps ended with its first better model; `improve` goes on from there, and never returns this.",
}
"""Every way a search can end, in a sentence."""
