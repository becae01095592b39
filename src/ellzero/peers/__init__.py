"""Methods for sparse logistic regression, other people's and ours, behind one protocol; imports up to `paths`.

The paper's experiments and the benchmarks compare these methods.
"""
