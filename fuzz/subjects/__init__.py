"""Subjects of the fuzzer, one module for each part of the public face: draw its options, call it, judge the result."""
