"""Hostile files of every format that the package reads: changed bytes and changed structure, with memory and time watched."""
