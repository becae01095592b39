"""GraSP: gradient support pursuit (Bahmani, Raj and Boufounos, JMLR 2013), written from the paper's description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ellzero.experiments.methods.method import Fit
from ellzero.experiments.methods.sparse_logistic import (
    LAMBDA_2,
    SIZES,
    Data,
    Iterate,
    WarmStart,
    largest,
    minimise_on,
    sweep,
)

__all__ = ["GraSP"]

# Of the objective: while only the order of the coefficients matters, and for the model that is returned.
ROUGH, FINE = 1e-4, 1e-9


@dataclass(frozen=True, eq=False)
class GraSP:
    """At most k features with a ridge, by minimising on the support and the 2k columns of largest gradients, then pruning.

    This is the authors' variant with debiasing: after pruning, the objective is minimised on the features that are left. On
    data of figure 1 (n = 1000, correlation 0.9) its models have a mean objective of 0.494; those of plain pruning, which goes
    round in circles more often, 0.506, and 0.500 after up to 50 iterations. The intercept is free throughout.

    A fit ends when it meets a set of columns again, or after more than `patience` iterations without progress, and gives the
    best model that it met. Waiting for a repetition (`patience=100`) took eight times as long for objectives that are 0.5 %
    lower. Starts from the next smaller size gained on one data set (n = 1000: 0.4872 instead of 0.4893) and lost on another
    (n = 300, correlation 0.5: 0.4516 instead of 0.4506), so each fit starts at zero, as in the paper.

    `backend="skscope"` uses skscope's GraspSolver instead, which prunes plainly; its supports are refitted here. It is sound,
    but took 1.4 s a fit for 5 features and 33 s for 50 at n = p = 1000 (0.02 s and 0.15 s here): hours for the paper's grid.
    """

    sizes: Iterable[int] = SIZES
    lambda_2: Iterable[float] = LAMBDA_2
    warm_start: WarmStart = "none"
    backend: Literal["numpy", "skscope"] = "numpy"
    patience: int = 1
    max_looks: int = 100

    @property
    def name(self) -> str:
        """As in the paper's legends."""
        return "GraSP"

    def missing(self) -> str | None:
        """What must be installed, in one sentence, or None if the method can run."""
        if self.backend == "numpy" or (find_spec("skscope") is not None and find_spec("jax") is not None):
            return None
        return "GraSP with the back end skscope needs skscope and jax (pip install skscope)."

    def fits(self, X: Any, y: NDArray[np.int64]) -> Iterator[Fit]:
        """A model for each size and lambda_2."""
        if self.backend == "skscope":
            yield from _by_skscope(Data(X, y), self.sizes, self.lambda_2)
            return
        for iterate in sweep(
            X, y, self.sizes, self.lambda_2, self.advance, warm_start=self.warm_start, max_looks=self.max_looks
        ):
            yield iterate.fit()

    def advance(self, data: Data, at: Iterate) -> bool:
        """One iteration; whether it is the last, which leaves the best model that was met."""
        assert at.slopes is not None
        gradient = at.slopes.copy()
        gradient[at.support] += 2.0 * at.lambda_2 * at.values
        merged = np.union1d(largest(gradient, 2 * at.size), at.support)
        looks = at.memory["looks"] = at.memory.get("looks", 0) + 1
        seen: set[bytes] = at.memory.setdefault("seen", set())
        idle = looks - 1 - at.memory.get("improved", 0)
        if merged.tobytes() in seen or idle > self.patience or looks == self.max_looks:
            support, values, intercept = at.memory["best"]
            at.move(support, *minimise_on(data, support, (values, intercept), at.lambda_2, FINE))
            return True
        seen.add(merged.tobytes())
        start = data.spread(at.support, at.values, merged), at.intercept
        values, intercept, *_ = minimise_on(data, merged, start, at.lambda_2, ROUGH)
        kept = largest(values, at.size)
        at.move(merged[kept], *minimise_on(data, merged[kept], (values[kept], intercept), at.lambda_2, ROUGH))
        if at.objective < at.memory.get("lowest", np.inf):
            at.memory |= {"best": (at.support, at.values, at.intercept), "lowest": at.objective, "improved": looks}
        return False


def _by_skscope(data: Data, sizes: Iterable[int], lambda_2: Iterable[float]) -> Iterator[Fit]:
    """The supports that skscope finds, refitted. The intercept is a last parameter that is always in."""
    import jax
    import jax.numpy as jnp
    from skscope import GraspSolver

    p = data.p

    for size, ridge in product(sorted({min(int(size), p) for size in sizes}), lambda_2):
        with jax.enable_x64(True):
            objective = _jax_objective(jnp.asarray(data.rows(np.arange(p))[1:].T), jnp.asarray(data.y), float(ridge))
            solver = GraspSolver(p + 1, size + 1, sample_size=data.n, preselect=[p])
            w = np.asarray(solver.solve(objective, jit=True), dtype=np.float64)
        support = np.flatnonzero(w[:p])
        values, intercept, *_ = minimise_on(data, support, (w[support], float(w[p])), ridge, FINE)
        yield Fit(support, values, intercept, {"k": float(size), "lambda_2": float(ridge)})


def _jax_objective(columns: Any, labels: Any, lambda_2: float) -> Any:
    """A function of one argument: skscope counts them, and gives a second one its data."""
    import jax.numpy as jnp

    def objective(w: Any) -> Any:
        return jnp.mean(jnp.logaddexp(0.0, -labels * (columns @ w[:-1] + w[-1]))) + lambda_2 * jnp.sum(w[:-1] ** 2)

    return objective
