"""Random problems: data of many kinds, scales, penalties, boxes, weights, and the storages of X; imports NumPy and SciPy only."""
