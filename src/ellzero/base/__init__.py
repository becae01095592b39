"""Errors, checks of arguments, safe files, late imports, progress reports; imports nothing else of the package."""
