"""Data for trials and experiments: synthetic data, and real benchmark sets; imports `base`."""

from ellzero.datasets.real import Dataset, load
from ellzero.datasets.synthetic import draw_labels, make_classification

__all__ = ["Dataset", "draw_labels", "load", "make_classification"]
