"""Tables with named columns: the reading of text, and the kinds of columns and targets; imports `base`.

The command line and `convert` read the same files in the same way.
"""
