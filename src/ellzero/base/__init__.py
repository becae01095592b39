"""Errors, checks of arguments, shown text, safe files, late imports and progress; imports nothing else of the package."""
