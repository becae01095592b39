"""Measurements and their presentation: timed runs, means with errors, Markdown tables.

The paper's experiments and the benchmarks share it.
"""
