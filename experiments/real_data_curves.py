"""The figures on real data: the paper's claims on each data set, and the lines that are drawn."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CLAIMS", "COMMON", "LARGEST", "OFFICIAL", "UNIT", "Claim", "Curve"]

LARGEST = 200  # most features of L1, and of ours without local search
OFFICIAL = "official"
UNIT = "unit variance"
COMMON = "one common factor"


@dataclass(frozen=True)
class Claim:
    """The words of the paper's text on a data set, and the result of its published code on the official split."""

    title: str
    rows: tuple[int, int]  # of training and of test: 70 % and 20 % of the labelled rows
    peak: float
    features: int | None  # the size at which the paper's peak is, about
    value: float  # lambda_2 of that peak
    common: float  # our lambda_2 for columns with one common factor
    words: str
    code: str = ""


CLAIMS = {
    "arcene": Claim(
        "Arcene",
        (140, 40),
        0.90,
        None,
        1.0,
        0.1,
        "L0L2 with lambda_2 = 1 peaks at 0.90, L1 does not exceed 0.84",
        "0.82 at its peak",
    ),
    "dorothea": Claim(
        "Dorothea",
        (805, 230),
        0.90,
        100,
        1.0,
        1.0,
        "L0L2 with lambda_2 = 1 peaks at 0.90 with about 100 features, L1 needs about 160 for the same",
    ),
    "dexter": Claim(
        "Dexter",
        (420, 120),
        0.98,
        10,
        0.01,
        0.1,
        "L0L2 with lambda_2 = 0.01 peaks at about 0.98 with fewer than 10 features, L1 needs about 40",
        "0.954 with 9 features",
    ),
}


@dataclass(frozen=True)
class Curve:
    """One line of a panel: a method with one value of its second penalty, on columns of one scaling."""

    method: str
    value: float = 0.0
    columns: str = UNIT

    @property
    def label(self) -> str:
        """Return the name in legends and tables."""
        name = "L1" if self.method == "L1" else f"{'λ₁' if self.method.startswith('L0L1') else 'λ₂'} = {self.value:g}"
        return name if self.columns == UNIT else f"{name}, {self.columns}"
