"""Helpers of the tests: builders of problems, oracles, ways to run the command line and to tamper with files."""
