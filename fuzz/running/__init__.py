"""Runs of many cases: worker processes that may crash, a results file that can be continued, and the summary."""
