"""The best model, and all that are as good.

Ten things were known of 442 patients, and a year later how far their diabetes had progressed. With squares and
products there are 64 features: which four of them explain the progression best? There are 635,376 sets of four.
`solve` finds the best one and proves it; `alternatives` lists all that are nearly as good, which says how much the
choice means. The data comes with scikit-learn.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures

import ellzero as ez

data = load_diabetes(as_frame=True)
y = data.target
powers = PolynomialFeatures(2, include_bias=False).set_output(transform="pandas").fit(data.data)
X = powers.transform(data.data)
X = X.loc[:, X.nunique() > 2].join(data.data["sex"])  # the square of sex is sex again
print(f"{len(X)} patients, {X.shape[1]} features of {data.data.shape[1]} measurements")

# %% [markdown]
# ## The best four, with a proof
#
# The squared error, with a little ridge penalty; columns are standardised.

# %%
solution = ez.solve(X, y, loss="squared_error", k=4, lambda_2=0.01, standardize=True)
print(solution)

# %% [markdown]
# ## Is it the only one?
#
# All models of at most four features whose objective is within 1 % of the best. That none is missing is proved,
# too.

# %%
found = ez.alternatives(X, y, within=0.01, loss="squared_error", k=4, lambda_2=0.01, standardize=True)
print(found)
found.plot()
plt.show()

# %% [markdown]
# ## What the choice costs on patients that were not seen
#
# Cross-validation over the number of features: more than a handful bring nothing.

# %%
chosen = ez.L0RegressorCV(select="size", max_support=12, rule="one_se").fit(X, y)
print(chosen.cv_results_)
chosen.cv_results_.plot()
plt.show()
