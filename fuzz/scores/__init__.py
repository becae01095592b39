"""Score cards against brute force, and their certificates after changes."""
