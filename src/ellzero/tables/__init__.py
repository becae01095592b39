"""Data files as people write them, read in batches: text, Parquet, svmlight, NumPy's; the kinds of columns and targets; imports `base`.

The command line and `convert` read the same files in the same way: one takes all batches, the other one at a time.
"""
