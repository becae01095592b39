"""Fit a path on generated data, choose a model on held-out rows, compare algorithms, prove a model optimal, and draw the path.

Run it with `make demo`; the plot goes to demo/path.png, a report about real data to demo/report.html.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import ellzero as ez


def main(folder: Path) -> None:
    n, p, k = 1000, 5000, 8
    print(f"{n} rows, {p} features, {k} of them matter (neighbours are correlated 0.5)\n")
    X, y, truth = ez.datasets.make_classification(2 * n, p, k, s=1.5, correlation="exponential", rho=0.5, random_state=1)
    train, test = X[:n], X[n:]
    y_train, y_test = y[:n], y[n:]

    start = time.perf_counter()
    path = ez.fit_path(train, y_train, lambda_2=1e-3, lambda_min_ratio=0.02)
    seconds = time.perf_counter() - start
    print(path)
    print(f"\n{seconds:.2f} s, {path.reads:.0f} reads of X; every model is checked against Theorem 1\n")

    sizes = sorted(path.sized)
    errors = [float(np.mean(path.at_support(size).predict(test) != y_test)) for size in sizes]
    print("size   held-out error")
    for size, error in zip(sizes[:16], errors, strict=False):
        print(f"{size:4d}   {error:.3f}  " + "#" * round(100 * error))
    chosen = path.at_support(sizes[int(np.argmin(errors))])
    print(f"\nchosen model (lowest held-out error):\n{chosen}")
    print(f"\nthe features that generated the labels: {', '.join(f'x{j}' for j in truth.nonzero()[0])}")

    correlated_features()
    larger_swaps()
    exact_solution(folder)
    estimators(folder)

    folder.mkdir(parents=True, exist_ok=True)
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("matplotlib is not installed: no plot")
        return
    plt.switch_backend("Agg")
    path.plot()
    plt.savefig(folder / "path.png", dpi=120)
    print(f"plot: {folder / 'path.png'}")


def correlated_features() -> None:
    """Compare algorithms where features resemble each other: local search finds what coordinate descent misses."""
    n, p, k = 800, 800, 20
    print(f"\n{n} rows, {p} features, {k} matter, neighbours are correlated 0.9: models of {k} features")
    X, y, truth = ez.datasets.make_classification(n, p, k, s=1.0, correlation="exponential", rho=0.9, random_state=2)
    right = set(truth.nonzero()[0].tolist())
    for name, algorithm in (("hard thresholding", "iht"), ("coordinate descent", "cd"), ("local search", "local_search")):
        start = time.perf_counter()
        model = ez.fit_sizes(X, y, [k], lambda_2=1e-3, algorithm=algorithm)[k]
        seconds = time.perf_counter() - start
        found = len(right & set(model.support.tolist()))
        print(f"{name:>20}: objective {model.objective:.4f}, {found} of {k} true features, {seconds:.2f} s")


def larger_swaps() -> None:
    """Improve a model of local search, in which no swap of one feature helps, by swaps of two, until none is left."""
    print("\n60 rows, 100 features, all pairs correlated 0.9: swaps of up to two features")
    X, y, _ = ez.datasets.make_classification(60, 100, 10, s=1.0, correlation="constant", rho=0.9, random_state=1)
    start = ez.fit_path(X, y, lambda_0=[0.001], lambda_2=1e-3, algorithm="local_search", swaps="exhaustive")[0]
    best = ez.improve(X, y, start, swap_size=2, lambda_2=1e-3)
    print(f"{'one at a time':>20}: objective {start.objective:.6f}, {len(start.support)} features")
    print(f"{'two at a time':>20}: objective {best.objective:.6f}, {len(best.support)} features, {best.status}")


def exact_solution(folder: Path) -> None:
    """Find the best of all models, with a proof that is checked from a file."""
    n, p, k = 500, 1000, 5
    print(f"\n{n} rows, {p} features: the best of all models with {k} features")
    X, y, _ = ez.datasets.make_classification(n, p, k, s=1.5, random_state=3)
    solution = ez.solve(X, y, k=k, lambda_2=0.01)
    print(solution)
    folder.mkdir(parents=True, exist_ok=True)
    solution.certificate.save(folder / "proof.npz")
    print(ez.verify(folder / "proof.npz", X, y))


def estimators(folder: Path) -> None:
    """Use the estimators of scikit-learn's kind: labels in words, cross-validation, a model file, and a page for colleagues."""
    from sklearn.datasets import load_breast_cancer

    from ellzero.report.page import write_report

    data = load_breast_cancer(as_frame=True)
    labels = data.target_names[data.target]
    print(f"\n{data.data.shape[0]} tumours, {data.data.shape[1]} measurements: malignant or benign?")
    classifier = ez.L0ClassifierCV(rule="one_se", scoring="roc_auc").fit(data.data, labels)
    names = classifier.feature_names_in_[classifier.support_]
    print(f"chosen by cross-validation: {len(names)} features, held-out AUC {classifier.best_score_:.3f}: {', '.join(names)}")
    classifier.save(folder / "model.json")
    same = ez.load(folder / "model.json").predict(data.data) == classifier.predict(data.data)
    print(f"the saved model predicts the same: {bool(same.all())}")
    page = folder / "report.html"
    write_report(page, data.data, labels, target="diagnosis", title="Malignant or benign?", time_limit=5.0)
    print(f"report: {page}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
