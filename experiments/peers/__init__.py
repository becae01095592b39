"""Methods for sparse logistic regression, other people's and ours, behind one protocol.

The paper's experiments and the benchmarks compare these methods.
"""
