"""Data to try things on."""

from ellzero.datasets.real import Dataset, load
from ellzero.datasets.synthetic import draw_labels, make_classification

__all__ = ["Dataset", "draw_labels", "load", "make_classification"]
