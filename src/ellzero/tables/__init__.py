"""Data files as people write them, read in batches, and the kinds of their columns and targets; imports `base`.

The command line and `convert` read the same files in the same way: one takes all batches, the other one at a time.
"""
