"""Errors, checks of arguments, safe reading and writing of files, progress reports; imports nothing else of the package."""
