"""Planted faults: mistakes that somebody could make, and which test finds each; `python -m benchmarks.faults` plants them."""
