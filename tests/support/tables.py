"""Tables with attributes."""

import numpy as np


def one_hot_problem(rng, rows, attributes, levels, noise=1.0):
    """A table of one-hot columns of correlated attributes, some without their first level, and a response."""
    mixed = rng.standard_normal((rows, attributes)) @ (np.eye(attributes) + 0.35)
    columns = []
    for z in mixed.T:
        count = int(rng.integers(levels[0], levels[1] + 1))
        level = np.digitize(z, np.quantile(z, np.linspace(0, 1, count + 1)[1:-1]))
        columns.append((level[:, None] == np.arange(int(rng.random() < 0.3), count)).astype(float))
    X = np.hstack(columns)
    shape = rng.standard_normal(X.shape[1]) * (rng.random(X.shape[1]) < 0.5)
    return X, X @ shape + noise * rng.standard_normal(rows)
