"""Tables with named columns, as people write them: how they are read, and what their columns and targets hold.

The command line and `convert` read the same files in the same way.
"""
