"""Data to try things on."""

from ellzero.datasets.real import Dataset, load
from ellzero.datasets.synthetic import make_classification

__all__ = ["Dataset", "load", "make_classification"]
