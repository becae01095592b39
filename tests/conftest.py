"""Shared builders of problems. Random tests are seeded; pytest prints the seed as part of the test's name."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
sys.path.insert(0, str(Path(__file__).parent))


def pytest_terminal_summary(terminalreporter):
    """Figures that tests report with `record_property("figure", text)` are printed even when everything passes."""
    figures = [
        str(value)
        for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
        if report.when == "call"
        for name, value in report.user_properties
        if name == "figure"
    ]
    for figure in figures:
        terminalreporter.write_line(figure)
