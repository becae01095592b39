"""Errors, checks of arguments, safe writing of files and progress reports; imports nothing else of the package."""
