"""Measurements and their presentation: timed runs, means with errors, Markdown tables; imports nothing else of the package.

The paper's experiments and the benchmarks share it.
"""
