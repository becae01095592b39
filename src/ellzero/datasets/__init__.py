"""Data to try things on."""

from ellzero.datasets.synthetic import make_classification

__all__ = ["make_classification"]
