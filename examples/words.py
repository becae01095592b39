"""Six words that give an estimator away.

A bag of words has a column for each word of the vocabulary, nearly all entries are zero, and a list of words that
fits on a postcard is worth more than a weight for every word. The texts are those that scikit-learn ships with
itself: the docstrings of its estimators. Which words tell those that transform data from those that predict? The
matrix stays sparse from the vectoriser to the solver.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import all_estimators

import ellzero as ez

kinds = ("classifier", "regressor", "transformer")
found = {name: (kind, cls.__doc__) for kind in kinds for name, cls in all_estimators(type_filter=kind)}
# The name, the examples and the references would give it away too easily.
texts = [text.split("Examples\n")[0].split("See Also\n")[0].split("References\n")[0] for _, text in found.values()]
y = np.array(["transformer" if kind == "transformer" else "predictor" for kind, _ in found.values()])
print(f"{len(texts)} docstrings, {(y == 'transformer').sum()} of transformers and {(y == 'predictor').sum()} of predictors")

# %% [markdown]
# ## A model of six words
#
# A word counts once, however often it occurs. `feature_names` gives the columns of a sparse matrix their names.

# %%
vectoriser = CountVectorizer(binary=True, min_df=5, token_pattern=r"[a-z]{3,}")
X = vectoriser.fit_transform(texts)
words = vectoriser.get_feature_names_out()
print(f"{X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} of the entries are not zero")
model = ez.L0Classifier(k=6, lambda_2=0.01, standardize=False, feature_names=words).fit(X, y)
print(model)

# %% [markdown]
# ## How well does it do on texts that it has not seen?
#
# Ten folds; the words are chosen again in each, inside the pipeline.

# %%
sizes = [1, 2, 3, 4, 5, 6, 7]
means, errors = [], []
for k in sizes:
    pipeline = make_pipeline(vectoriser, ez.L0Classifier(k=k, lambda_2=0.01, standardize=False))
    scores = cross_val_score(pipeline, texts, y, cv=10)
    means.append(scores.mean())
    errors.append(scores.std(ddof=1) / np.sqrt(len(scores)))
    print(f"{k} word{'s' * (k > 1)}: {means[-1]:.1%} right (+- {errors[-1]:.1%})")

_, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.errorbar(sizes, means, errors, marker="o", capsize=3)
guess = max((y == "transformer").mean(), (y == "predictor").mean())
ax.axhline(guess, color="grey", linestyle="--")
ax.annotate("always the more frequent kind", (sizes[-1], guess), (0, 5), textcoords="offset points", ha="right")
ax.set_xlabel("words in the model")
ax.set_ylabel("right, held out")
plt.show()
