"""Hash the results of every public function, to show that a change of the code changes no result.

python -m benchmarks.fingerprint [--only TEXT] [--out FILE] [--details] [--against FILE] [--values FILE] [--near FILE]

prints a line `name hash` for each case, and one `name, as text hash` for what its result prints. Two builds give the same
results, to the last bit, exactly if the lines are the same; PYTHONPATH says which build is meant. With --details each value of
each result has its own line, so that a difference can be found. With --against the lines are compared with those of an
earlier run, and the exit status tells whether all are equal. Where rounding may differ, --values keeps
all values of a run, and --near compares with such a file to 1e-10.
"""
