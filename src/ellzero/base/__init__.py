"""Errors, checks of arguments, safe files, late imports and progress reports; imports nothing else of the package."""
