"""The best five features, and a proof to hand over.

Is there another set of five features that fits better? Of 2,000 features there are 2.6e14 such sets. `solve` finds
the best one and proves that no other is better; the proof is a file, and whoever has the data can check it without
trusting the solver. Here the file is checked, then damaged and exchanged, to see that this is noticed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import ellzero as ez


def main(folder: Path, quick: bool = False) -> None:
    n, p, k = (300, 300, 4) if quick else (500, 2000, 5)
    X, y, truth = ez.datasets.make_classification(n, p, k, s=1.0, correlation="exponential", rho=0.7, random_state=4)
    print(f"{n} rows, {p} features, the best model with {k} of them\n")

    guess = ez.fit_sizes(X, y, [k], lambda_2=0.01)[k]
    print(f"local search: objective {guess.objective:.6f}, and nobody knows whether there is a better one")
    solution = ez.solve(X, y, k=k, lambda_2=0.01)
    print(f"exact:        objective {solution.objective:.6f}, no model is below {solution.lower_bound:.6f}")
    print(f"              {solution.status} after {solution.nodes} nodes, features {solution.support.tolist()}")
    print(f"              (the labels were made from {truth.nonzero()[0].tolist()})\n")

    proof = folder / "proof.npz"
    solution.certificate.save(proof)
    print(ez.verify(proof, X, y))

    changed = X.copy()
    changed[0, 0] += 1e-9
    print(f"\nother data:     valid = {ez.verify(proof, changed, y).valid}")
    with np.load(proof) as archive:
        arrays = dict(archive)
    arrays["coef"] = arrays["coef"] * 1.01
    np.savez(folder / "forged.npz", **arrays)
    report = ez.verify(folder / "forged.npz", X, y)
    print(f"altered file:   valid = {report.valid} ({report.reasons[0]})")

    ax = solution.plot()
    ax.set_xlabel("seconds")
    plt.savefig(folder / "figure.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
