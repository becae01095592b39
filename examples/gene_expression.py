"""Few genes out of thousands.

Expression arrays have far more columns than rows, and genes of one pathway rise and fall together. How many genes are
needed to tell two kinds of leukaemia apart, and which of them would be chosen again from other patients?

Cross-validation over the *number of genes* answers the first question, stability selection the second. Without a file
of real data (`ALLAML_72x7129.npz` with `X` and `y` in the folder that `ELLZERO_DATA` names) 72 patients and 3,000
genes are simulated: pathways of 20 genes each, three of which differ between the classes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import ellzero as ez

PATHWAY = 20


def simulated(patients: int, genes: int, seed: int = 7) -> tuple[pd.DataFrame, np.ndarray]:
    """Simulate pathways of correlated genes; the first gene of three of them carries the signal."""
    rng = np.random.default_rng(seed)
    pathways = genes // PATHWAY
    activity = np.repeat(rng.standard_normal((patients, pathways)), PATHWAY, axis=1)
    X = 0.7 * activity + 0.7 * rng.standard_normal((patients, pathways * PATHWAY))
    y = np.where(rng.random(patients) < 0.65, "ALL", "AML")
    for pathway, shift in ((10, 2.2), (40, -2.0), (70, 2.0)):
        X[:, pathway * PATHWAY] += shift * (y == "AML")
    names = [f"pathway{j // PATHWAY}.gene{j % PATHWAY}" for j in range(X.shape[1])]
    return pd.DataFrame(X, columns=names), y


def expression(patients: int, genes: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return real data if the file is there, simulated data otherwise."""
    file = Path(os.environ.get("ELLZERO_DATA", "")) / "ALLAML_72x7129.npz"
    if not file.is_file():
        return simulated(patients, genes)
    with np.load(file) as archive:
        names = [f"gene{j}" for j in range(archive["X"].shape[1])]
        return pd.DataFrame(archive["X"], columns=names), np.where(archive["y"] > 0, "ALL", "AML")


def main(folder: Path, quick: bool = False) -> None:
    X, y = expression(72, 2000 if quick else 3000)
    print(f"{X.shape[0]} patients, {X.shape[1]} genes, {np.mean(y == 'AML'):.0%} AML\n")

    model = ez.L0ClassifierCV(select="size", max_support=10, shrinkage=[0.1, 0.01], rule="one_se", cv=3 if quick else 10)
    model.fit(X, y)
    print(f"smallest model within one standard error of the best: {model.k_} genes")
    for j in model.support_:
        print(f"  {X.columns[j]:<18} {model.coef_[0, j]:+.2f}")

    stability = ez.stability_selection(X, y, k=3, lambda_2=0.01, n_subsamples=10 if quick else 100)
    print("\nhow often half of the patients give the same gene:")
    for j in stability.selected(0.1)[:5]:
        print(f"  {X.columns[j]:<18} {stability.frequency[j]:.0%}")
    print(f"chance findings to expect above 60 %: at most {stability.false_bound(0.6):.2f}")

    _, (above, below) = plt.subplots(2, 1, figsize=(8, 7.5), layout="constrained")
    model.cv_results_.plot(above)
    stability.plot(below, top=12)
    plt.savefig(folder / "figure.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
