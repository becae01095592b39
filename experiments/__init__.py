"""The paper's experiments, redone by `python -m experiments NAME`.

An experiment lists its tasks, runs one of them, and reports on the results, compared with the published ones
(:mod:`experiments.experiment`); :mod:`experiments.running` runs all tasks and keeps their results.
"""

from __future__ import annotations

import importlib

from ellzero.base.validation import as_choice
from experiments.experiment import Experiment

__all__ = ["EXPERIMENTS", "find"]

EXPERIMENTS = {
    "fig1": "sample_sizes:FIG1",
    "fig2": "sample_sizes:FIG2",
    "table2": "large_instances:TABLE2",
    "fig3": "real_data:FIG3",
    "fig4": "run_times:FIG4",
    "table3": "certification:TABLE3",
    "fig5": "real_data:FIG5",
    "fig6": "real_data:FIG6",
    "fig7": "real_data:FIG7",
    "rates": "rates:RATES",
}
"""The module and variable of each experiment, in the paper's order; the module is imported on first use."""


def find(name: str) -> Experiment:
    """Return the experiment of that name."""
    module, _, variable = EXPERIMENTS[as_choice("name", name, tuple(EXPERIMENTS))].partition(":")
    experiment: Experiment = getattr(importlib.import_module(f"experiments.{module}"), variable)
    return experiment
