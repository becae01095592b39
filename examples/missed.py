"""A missed tumour costs more than a false alarm.

A classifier that makes the fewest errors treats both kinds alike. Here a malignant tumour that is missed is taken
to be ten times as bad as a benign one that is taken for malignant. Weights say so to the fit, and so does the
threshold of the probability. Doctors also know that malignant cells are larger and rougher, never smaller and
smoother: coefficients may be bounded from below. The data comes with scikit-learn.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict

import ellzero as ez

data = load_breast_cancer(as_frame=True)
X, malignant = data.data, (data.target == 0).to_numpy()
COST = 10.0
print(f"{malignant.sum()} of {len(X)} tumours are malignant; to miss one is {COST:.0f} times as bad as a false alarm")

# %% [markdown]
# ## Three models of six measurements
#
# As it is; with coefficients that are not negative; and with the cost as a weight of the class. All figures are of
# held-out tumours.

# %%
models = {
    "as it is": ez.L0Classifier(k=6),
    "no negative coefficients": ez.L0Classifier(k=6, lower=0.0),
    "by cost": ez.L0Classifier(k=6, lower=0.0, class_weight={False: 1.0, True: COST}),
}
held_out = {}
for name, model in models.items():
    held_out[name] = cross_val_predict(model, X, malignant, cv=10, method="predict_proba")[:, 1]
    called = held_out[name] > 0.5
    missed, alarms = (malignant & ~called).sum(), (~malignant & called).sum()
    print(f"{name:>25}: {missed:2d} missed, {alarms:2d} false alarms, cost {COST * missed + alarms:.0f}")

# %% [markdown]
# ## Or move the threshold
#
# Where a missed one is ten times as bad, one acts above a probability of 1 / 11, about 9 %, and leaves the model as
# it is. For models with calibrated probabilities that is the same trade, and it can be changed without a new fit.

# %%
threshold = 1.0 / (1.0 + COST)
called = held_out["no negative coefficients"] > threshold
missed, alarms = (malignant & ~called).sum(), (~malignant & called).sum()
print(f"above {threshold:.1%}: {missed} missed, {alarms} false alarms, cost {COST * missed + alarms:.0f}")

_, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
cuts = np.linspace(0.005, 0.8, 200)
for name, probability in held_out.items():
    cost = [COST * (malignant & (probability <= t)).sum() + (~malignant & (probability > t)).sum() for t in cuts]
    ax.plot(cuts, cost, label=name)
ax.axvline(threshold, color="grey", linestyle=":")
ax.annotate("1 / 11", (threshold, ax.get_ylim()[1]), (4, -12), textcoords="offset points")
ax.set_xlabel("threshold of the probability")
ax.set_ylabel("cost of the errors, held out")
ax.legend()
plt.show()

# %% [markdown]
# ## The rule
#
# Fitted on all tumours, small enough to be read aloud.

# %%
print(models["no negative coefficients"].fit(X, malignant))
