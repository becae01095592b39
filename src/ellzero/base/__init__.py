"""Errors, checks of arguments, shown text, safe files, late imports, progress; imports nothing else of the package."""
