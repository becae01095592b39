"""A problem with more columns than are kept at hand, a slow store for them, and whether two paths are the same."""

import time

import numpy as np

from ellzero.design import as_design

SEED = 11
SETTINGS = {"lambda_2": 1e-3, "max_support": 12, "n_lambda": 25}
RNG = np.random.default_rng(SEED)
# Large enough that X is not read as a whole at every look, and that not all columns have room at hand.
COLUMNS = np.asfortranarray(RNG.standard_normal((150, 1500)).astype(np.float32))
RESPONSE = COLUMNS[:, [3, 700, 1400]] @ [1.5, -1.0, 1.0] + 0.5 * RNG.standard_normal(150)


def same(a, b):
    """The same path, bit for bit."""
    np.testing.assert_array_equal(a.lambda_0, b.lambda_0, err_msg=f"seed {SEED}")
    np.testing.assert_array_equal(a.objective, b.objective, err_msg=f"seed {SEED}")
    assert (a.coef != b.coef).nnz == 0, SEED
    np.testing.assert_array_equal(a.intercept, b.intercept, err_msg=f"seed {SEED}")


class Slow:
    """A store that takes its time, and remembers how many requests each pass served, and its blocks."""

    def __init__(self, X, seconds=0.0, blocks=3):
        self.X, self.seconds, self.blocks = X, seconds, blocks
        self.shape, self.dtype, self.nbytes, self.storage, self.names = X.shape, X.dtype, X.nbytes, "dense", None
        self.served, self.read = [], 0
        self.fails_at = None

    def scan(self, requests):
        self.served.append(len(requests))
        width = -(-self.shape[1] // self.blocks)
        for first in range(0, self.shape[1], width):
            time.sleep(self.seconds)
            self.read += 1
            if self.fails_at == len(self.served):
                raise OSError(5, "the disk is broken")
            design = as_design(self.X[:, first : first + width])
            yield first, [request(design.core, 1) for request in requests]

    def take(self, columns):
        return np.asfortranarray(self.X[:, columns])

    def __getitem__(self, key):
        return self.X[key]
