"""Pictures of results, drawn from plain numbers: the functions know no result class, and results pass their own numbers."""

from ellzero.plots.bounds import SearchState, plot_bounds, plot_certified
from ellzero.plots.contributions import plot_contributions
from ellzero.plots.path import plot_budgets, plot_grid, plot_path, plot_sizes
from ellzero.plots.scores import ScoreLine, plot_scores, plot_trade
from ellzero.plots.supports import FoldSupports, plot_alternatives, plot_stability, plot_supports

__all__ = [
    "FoldSupports",
    "ScoreLine",
    "SearchState",
    "plot_alternatives",
    "plot_bounds",
    "plot_budgets",
    "plot_certified",
    "plot_contributions",
    "plot_grid",
    "plot_path",
    "plot_scores",
    "plot_sizes",
    "plot_stability",
    "plot_supports",
    "plot_trade",
]
