"""Pictures of results, one file a result."""

from ellzero.plots.bounds import plot_bounds
from ellzero.plots.cross_validation import plot_scores, plot_supports
from ellzero.plots.path import plot_path, plot_sizes
from ellzero.plots.stability import plot_stability

__all__ = ["plot_bounds", "plot_path", "plot_scores", "plot_sizes", "plot_stability", "plot_supports"]
