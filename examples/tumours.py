"""Few measurements of a tumour.

The nuclei of cells from 569 breast tumours were measured in 30 ways, and for each tumour it is known whether it was
malignant. How many of these measurements does it take to tell, and which would be chosen again from other patients?
Cross-validation over the *number* of measurements answers the first question, stability selection the second. The
data comes with scikit-learn.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ellzero as ez

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target.map({0: "malignant", 1: "benign"})
train, test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
print(f"{len(train)} tumours to learn from, {len(test)} to test on, {X.shape[1]} measurements")
print(y.value_counts().to_string())

# %% [markdown]
# ## How many measurements?
#
# `rule="one_se"` takes the smallest model that does about as well as the best one. The rows that are set aside are
# not used for that.

# %%
model = ez.L0ClassifierCV(select="size", max_support=10, rule="one_se").fit(train, y_train)
print(model.cv_results_)
model.cv_results_.plot()
plt.show()

# %% [markdown]
# ## The model
#
# Odds ratios are of one standard deviation of a measurement. They describe the prediction, not causes.

# %%
print(model.summary())

# %% [markdown]
# ## On tumours that were set aside
#
# For comparison: a model that uses all 30 measurements, with a ridge penalty.

# %%
ridge = make_pipeline(StandardScaler(), LogisticRegression()).fit(train, y_train)
for name, fitted, size in (("ellzero", model, model.k_), ("ridge", ridge, X.shape[1])):
    predicted = fitted.predict(test)
    found = (predicted[y_test == "malignant"] == "malignant").mean()
    print(f"{name:>8}: {size:2d} measurements, {(predicted == y_test).mean():.1%} right, {found:.1%} of the malignant found")

# %% [markdown]
# ## Would other patients lead to the same measurements?
#
# Models of as many measurements are fitted on a hundred random halves of the data. Measurements of the same thing
# (radius, perimeter and area) take each other's place.

# %%
stability = ez.stability_selection(train, y_train, k=model.k_, n_subsamples=100)
print(stability)
stability.plot()
plt.show()
