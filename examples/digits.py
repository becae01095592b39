"""Ten digits, the same few pixels for all.

If a feature is something to be measured, a sensor or a laboratory test, what counts is how many are used *in all*. So with
more than two classes all of them share their features, and each is counted once. `multi_class="ovr"` gives each class a
separate model, with its own features. The data are scikit-learn's images of handwritten digits, 8 by 8 pixels.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import ellzero as ez

digits = load_digits()
X, test, y, y_test = train_test_split(digits.data, digits.target, random_state=0, train_size=1200)
print(f"{len(y)} images of {X.shape[1]} pixels, {len(np.unique(y))} classes")

# %% [markdown]
# ## Own pixels for each class, or the same for all

# %%
# Some digits are separated perfectly, and a fit warns of that: the sizes of their coefficients mean little.
warnings.simplefilter("ignore", ez.FragileModelWarning)
own = ez.L0Classifier(k=8, lambda_2=1e-3, multi_class="ovr").fit(X, y)
shared = ez.L0Classifier(k=20, lambda_2=1e-3, algorithm="cd").fit(X, y)  # coordinate descent takes a second
for name, model in (("own pixels for each class", own), ("the same pixels for all", shared)):
    each = np.count_nonzero(model.coef_, axis=1)
    print(f"{name}: {each.max()} for each class, {len(model.support_)} in all, ", end="")
    print(f"accuracy on other images {model.score(test, y_test):.1%}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
axes[0].imshow(digits.images.mean(axis=0), cmap="Greys")
axes[0].set_title("mean image")
for ax, model, title in ((axes[1], own, "own pixels: number of classes"), (axes[2], shared, "shared pixels")):
    count = np.count_nonzero(model.coef_, axis=0).reshape(8, 8)
    mesh = ax.imshow(count, cmap="Blues", vmin=0, vmax=10)
    ax.set_title(title)
figure.colorbar(mesh, ax=axes[1:], label="classes that use the pixel")
for ax in axes:
    ax.set_axis_off()
plt.show()

# %% [markdown]
# ## Which images are hard?
#
# The six whose most likely digit has the smallest probability.

# %%
probability = shared.predict_proba(test)
hardest = np.argsort(probability.max(axis=1))[:6]
_, axes = plt.subplots(1, 6, figsize=(10, 2.2), layout="constrained")
for ax, at in zip(axes, hardest, strict=True):
    ax.imshow(test[at].reshape(8, 8), cmap="Greys")
    ax.set_title(f"a {y_test[at]}; said {shared.classes_[probability[at].argmax()]}")
    ax.set_axis_off()
plt.show()
print(f"their largest probabilities: {np.round(probability[hardest].max(axis=1), 2).tolist()}")
