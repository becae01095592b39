"""Several outputs that use the same features: the mean of their objectives, each feature counted once.

Coordinate descent solves one problem at a time, so this is a search over supports. The feature that enters is the one from
which all outputs together gain most, the one that leaves is the one without which they lose least, and features are exchanged
while that helps. A quadratic model proposes candidates; a refit of all outputs decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ellzero.design import is_stored
from ellzero.estimators.refit import refit
from ellzero.paths.sizes import Sizes
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import PathOptions

__all__ = ["joint_objective", "shared_sizes"]

Array = NDArray[np.float64]
ENTERING, LEAVING, SWAPPED = 5, 5, 3  # numbers of candidates that are refitted
MOST_SWAPS = 20
WORTH_A_SWAP = 1e-9  # relative improvement of the objective below which a swap is not made


@dataclass(frozen=True, eq=False)
class JointModel:
    """A support with every output's model on it."""

    support: tuple[int, ...]  # without unpenalized features
    models: list[Model]
    value: float  # the mean objective, without lambda_0


def shared_sizes(problems: list[Problem], largest: int, options: PathOptions, price: float = 0.0) -> list[Sizes]:
    """Return the models of 0 to `largest` features of each output; at each size all outputs use the same support.

    The search ends at a size whose price alone exceeds the best objective so far: losses are never negative.
    """
    search = SharedSearch(problems, options)
    steps = list(range(1, largest + 1))
    best = [search.refit(())]
    for size in steps:
        grown = search.grow(best[-1]) if price * size < min(b.value + price * len(b.support) for b in best) else None
        if grown is None:
            break
        best.append(grown)
        search.report(0.5 * size / max(largest, 1), size)
    for size in range(len(best) - 1, 0, -1):
        if size + 1 < len(best):
            shrunk = search.shrink(best[size + 1])
            best[size] = min(best[size], shrunk, key=lambda joint: joint.value)
        if options.algorithm != "cd":
            best[size] = search.swap(best[size])
        search.report(1.0 - 0.5 * size / len(best), size)
    while len(best) <= largest:
        best.append(best[-1])
    for size in steps:
        if best[size].value > best[size - 1].value:
            best[size] = best[size - 1]
    search.report(1.0, largest)
    sizes = np.arange(largest + 1, dtype=np.int64)
    return [Sizes(sizes, [joint.models[c] for joint in best], problem, None) for c, problem in enumerate(problems)]


def joint_objective(by_size: list[Sizes]) -> tuple[Array, NDArray[np.int64]]:
    """Return the mean objective at each size, without lambda_0, and the number of features that any output pays for."""
    supports = zip(*([model.support for model in sizes] for sizes in by_size), strict=True)
    used = [by_size[0].problem.counted(np.unique(np.concatenate(outputs))) for outputs in supports]
    return np.mean([sizes.objective for sizes in by_size], axis=0), np.array(used, dtype=np.int64)


class SharedSearch:
    """The search over supports; it remembers the refits that it has made."""

    def __init__(self, problems: list[Problem], options: PathOptions) -> None:
        self.problems = problems
        self.options = options
        mask = problems[0].penalty.unpenalized
        self.always = np.zeros(0, np.int64) if mask is None else np.flatnonzero(mask)
        self.known: dict[tuple[int, ...], JointModel] = {}

    def report(self, fraction: float, size: int) -> None:
        """Report progress to the user."""
        if self.options.progress is not None:
            self.options.progress(fraction, 0.0, size)

    def refit(self, support: tuple[int, ...]) -> JointModel:
        """Return the models of all outputs on this support."""
        if support not in self.known:
            columns = np.union1d(self.always, support).astype(np.int32)
            models = [refit(problem, columns, self.options) for problem in self.problems]
            self.known[support] = JointModel(support, models, float(np.mean([model.objective for model in models])))
        return self.known[support]

    def curvature(self, problem: Problem) -> Array:
        """Return a bound on the second derivative along each coordinate, as if it were 1 for losses that have none."""
        bound = problem.loss.curvature_bound if np.isfinite(problem.loss.curvature_bound) else 1.0
        return bound * problem.square * problem.column_unit**2 + 2.0 * problem.penalty.lambda_2

    def slopes(self, joint: JointModel) -> list[Array]:
        """Return the gradients of all outputs; if X is not in memory, one pass over it computes all of them."""
        residuals = [
            problem.w * problem.loss.gradient(*problem.fitted(*model.coefficients))
            for problem, model in zip(self.problems, joint.models, strict=True)
        ]
        design = self.problems[0].design
        products = design.core.products(np.array(residuals)) if is_stored(design) else map(design.rmatvec, residuals)
        pairs = zip(self.problems, products, residuals, strict=True)
        return [problem.as_seen(product, r) for problem, product, r in pairs]

    def entering(self, joint: JointModel, count: int, never: tuple[int, ...] = ()) -> list[int]:
        """Return the columns outside the support from which one coordinate step in every output gains most."""
        gain = np.zeros(len(self.problems[0].square))
        for problem, slope in zip(self.problems, self.slopes(joint), strict=True):
            step = np.maximum(np.abs(slope) - problem.penalty.lambda_1, 0.0)
            if problem.penalty.lower is not None:
                step[(slope > 0.0) & (problem.penalty.lower >= 0.0)] = 0.0
            if problem.penalty.upper is not None:
                step[(slope < 0.0) & (problem.penalty.upper <= 0.0)] = 0.0
            gain += step**2 / np.maximum(2.0 * self.curvature(problem), 1e-300)
        gain[problem.square <= 0.0] = 0.0
        gain[[*joint.support, *never, *self.always]] = 0.0
        order = np.argsort(-gain, kind="stable")[:count]
        return [int(j) for j in order if gain[j] > 0.0]

    def leaving(self, joint: JointModel, count: int) -> list[int]:
        """Return the features without which all outputs lose least, by a quadratic model."""
        loss = dict.fromkeys(joint.support, 0.0)
        for problem, model in zip(self.problems, joint.models, strict=True):
            cost = problem.penalised(model.support, model.values) ** 2 * self.curvature(problem)[model.support]
            for j, c in zip(model.support.tolist(), cost.tolist(), strict=True):
                if j in loss:
                    loss[j] += c
        return sorted(loss, key=lambda j: loss[j])[:count]

    def grow(self, joint: JointModel) -> JointModel | None:
        """Return the best model with one more feature, None if no feature is left that helps."""
        grown = [self.refit(tuple(sorted({*joint.support, j}))) for j in self.entering(joint, ENTERING)]
        return min(grown, key=lambda other: other.value, default=None)

    def shrink(self, joint: JointModel) -> JointModel:
        """Return the best model with one feature less."""
        shrunk = [self.refit(tuple(sorted({*joint.support} - {j}))) for j in self.leaving(joint, LEAVING)]
        return min(shrunk, key=lambda other: other.value)

    def swap(self, joint: JointModel) -> JointModel:
        """Exchange one feature for another as long as that improves the model."""
        for _ in range(MOST_SWAPS):
            others = []
            for j in self.leaving(joint, SWAPPED):
                without = self.refit(tuple(sorted({*joint.support} - {j})))
                others += [self.refit(tuple(sorted({*without.support, i}))) for i in self.entering(without, SWAPPED, (j,))]
            better = min(others, key=lambda other: other.value, default=joint)
            if better.value >= joint.value * (1.0 - WORTH_A_SWAP):
                break
            joint = better
        return joint
