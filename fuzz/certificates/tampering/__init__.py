"""The catalogue of tampering: what tests expect of each change, and what the fuzzer tries on other certificates."""

from fuzz.certificates.tampering import (
    claims,
    diagonals,
    families,
    groups,
    growth,
    outputs,
    prices,
    problem,
    rules,
    swaps,
    tree,
)
from fuzz.certificates.tampering.changes import Tampering

__all__ = ["CATALOGUE", "Tampering"]

PARTS = (tree, problem, claims, diagonals, families, growth, prices, rules, groups, swaps, outputs)
CATALOGUE = [Tampering(*row) for part in PARTS for row in part.CATALOGUE]
