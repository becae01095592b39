"""The best eight measurements, and a proof to hand over.

Is there another set of eight measurements that tells malignant from benign tumours better? Of 30 there are 5,852,925
such sets. `solve` finds the best one and proves that no other is better; the proof is a file, and whoever has the
data can check it without trusting the solver. Here the file is checked, then damaged and exchanged, to see that
this is noticed. The data comes with scikit-learn.
"""

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import ellzero as ez

data = load_breast_cancer(as_frame=True)
X, malignant = data.data, data.target == 0

# %% [markdown]
# ## A good model, and the best one
#
# Local search finds a model in milliseconds, and nobody knows whether there is a better one. The exact search says.

# %%
guess = ez.fit_sizes(X, malignant, [8], lambda_2=0.0003, standardize=True)[8]
print(f"local search: objective {guess.objective:.6f}")
solution = ez.solve(X, malignant, k=8, lambda_2=0.0003, standardize=True)
print(solution)
solution.plot()
plt.show()

# %% [markdown]
# The proof is about the search: no other eight measurements fit *these* tumours better. About other patients it says
# nothing; for that there is cross-validation.
#
# ## The proof as a file

# %%
folder = Path(tempfile.mkdtemp())
proof = folder / "proof.npz"
solution.certificate.save(proof)
print(ez.verify(proof, X, malignant))

# %% [markdown]
# ## What if somebody cheats?
#
# One entry of the data differs in the ninth digit, or the file says that the coefficients are others.

# %%
changed = X.copy()
changed.iloc[0, 0] += 1e-9
print(f"other data:   valid = {ez.verify(proof, changed, malignant).valid}")
with np.load(proof) as archive:
    arrays = dict(archive)
arrays["coef"] = arrays["coef"] * 1.01
np.savez(folder / "forged.npz", **arrays)
report = ez.verify(folder / "forged.npz", X, malignant)
print(f"altered file: valid = {report.valid} ({report.reasons[0]})")
