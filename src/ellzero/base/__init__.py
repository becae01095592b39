"""The ground floor: errors, checks of arguments, safe files and progress; it imports nothing of the package."""
