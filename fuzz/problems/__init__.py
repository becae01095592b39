"""Random problems: data of many kinds, scales, penalties, boxes, weights, and the storages of X."""
