"""Rare fraud, and a rule that a person can read.

One payment in a hundred is fraudulent. Left alone, a classifier of few features does well by calling everything
honest; weights of classes or of rows tell it what a missed fraud costs. Risk may only *grow* with what investigators take for a
warning sign, so these coefficients are bounded from below, and the amount stays in the model whatever the data says.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import PrecisionRecallDisplay, average_precision_score
from sklearn.model_selection import train_test_split

import ellzero as ez

CALL = 5.0


def payments(count: int, seed: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    """Simulate payments: five attributes that matter, and a hundred that a database happens to have."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "log_amount": rng.normal(3.5, 1.2, count),
            "new_device": rng.random(count) < 0.08,
            "foreign_card": rng.random(count) < 0.12,
            "payments_last_hour": rng.poisson(0.4, count),
            "address_mismatch": rng.random(count) < 0.1,
        }
    ).astype(float)
    others = {f"attribute_{j}": rng.standard_normal(count) for j in range(100)}
    risk = X @ [0.5, 3.0, 2.0, 1.2, 1.6] - 8.8
    return pd.DataFrame({**X, **others}), rng.random(count) < 1 / (1 + np.exp(-risk))


def main(folder: Path, quick: bool = False) -> None:
    X, fraud = payments(6000 if quick else 40000)
    train, test, y_train, y_test = train_test_split(X, fraud, stratify=fraud, random_state=0)
    print(f"{len(train)} payments to learn from, {y_train.mean():.2%} of them fraudulent, {X.shape[1]} attributes\n")

    signs = ["new_device", "foreign_card", "payments_last_hour", "address_mismatch"]
    lower = np.where(np.isin(X.columns, signs), 0.0, -np.inf)
    model = ez.L0Classifier(k=4, lower=lower, unpenalized=["log_amount"])
    # A fraud that is missed costs its amount, a false alarm a phone call.
    cost = np.where(fraud, np.exp(X["log_amount"]), CALL)
    models = {
        "as it is": clone(model).fit(train, y_train),
        "balanced": clone(model).set_params(class_weight="balanced").fit(train, y_train),
        "by cost": clone(model).fit(train, y_train, sample_weight=cost[train.index]),
    }
    _, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
    for name, fitted in models.items():
        alarm, risk = fitted.predict(test), fitted.decision_function(test)
        spent = cost[test.index][alarm != y_test].sum()
        print(
            f"{name}: {(alarm & y_test).sum()} of {y_test.sum()} frauds caught, {(alarm & ~y_test).sum()} false alarms, ",
            end="",
        )
        print(f"errors cost {spent:,.0f}, average precision {average_precision_score(y_test, risk):.2f}")
        PrecisionRecallDisplay.from_predictions(y_test, risk, name=name, ax=ax)

    print(f"\nthe rule by cost: alarm if {models['by cost'].intercept_[0]:.1f}")
    for j in models["by cost"].support_:
        print(f"  {models['by cost'].coef_[0, j]:+.2f} x {X.columns[j]}")
    print("is above zero")
    ax.set_title("payments that the model has not seen")
    plt.savefig(folder / "figure.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
