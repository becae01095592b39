"""The result of `alternatives`: models that are nearly as good as the best one, and what they have in common."""

from __future__ import annotations

from dataclasses import dataclass, field

from ellzero.exact.certificate import Certificate
from ellzero.exact.search_log import SearchProgress
from ellzero.problem.model import Model


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives:
    models: list[Model]
    certificate: Certificate
    nodes: int
    seconds: float
    history: list[SearchProgress] = field(default_factory=list)

    @property
    def status(self):
        return self.certificate.claim.status

    @property
    def complete(self):
        return self.status == "complete"
