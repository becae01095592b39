"""Numbers that the paper prints: mean and standard error, or seconds."""

from __future__ import annotations

__all__ = ["TABLE2", "TABLE3", "Printed"]

Printed = tuple[float, float]

TABLE2: dict[str, dict[int, tuple[Printed, Printed]]] = {
    "L0L2 (CD)": {1: ((0.0, 0.0), (30.0, 0.0)), 2: ((21.6, 0.9), (26.2, 0.5))},
    "L0L1 (CD)": {1: ((0.0, 0.0), (30.0, 0.0)), 2: ((11.2, 0.7), (14.8, 0.3))},
    "L0L2 (CD w. Local Search)": {1: ((0.0, 0.0), (30.0, 0.0)), 2: ((11.5, 0.4), (14.6, 0.3))},
    "L0L1 (CD w. Local Search)": {1: ((0.0, 0.0), (30.0, 0.0)), 2: ((11.2, 0.4), (14.5, 0.3))},
    "L0L2/squared hinge (CD)": {1: ((2.8, 0.3), (32.8, 0.3)), 2: ((23.9, 0.7), (27.0, 0.4))},
    "L1": {1: ((617.2, 8.3), (647.2, 8.3)), 2: ((242.2, 4.8), (256.9, 5.3))},
    "MCP": {1: ((0.0, 0.0), (30.0, 0.0)), 2: ((80.1, 10.9), (91.5, 12.1))},
    "NHTP": {1: ((44.7, 5.6), (74.7, 5.6)), 2: ((92.5, 0.6), (100.0, 0.0))},
    "GraSP": {1: ((50.5, 5.6), (80.5, 5.6)), 2: ((45.3, 3.0), (54.4, 2.8))},
}
"""Method, setting: false positives and support size."""

TABLE3: dict[str, dict[int, float | None]] = {
    "IGA": {10_000: 35.0, 20_000: 80.0, 30_000: 117.0, 40_000: 169.0, 50_000: 297.0},
    "Gurobi": {10_000: 4446.0, 20_000: 21817.0, 30_000: None, 40_000: None, 50_000: None},
}
"""Seconds to certify by p; None: more than a day. IGA at 50,000 ended with a gap of 0.05 %."""
