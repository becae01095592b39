"""The mathematics of one fit: losses, penalties, the problem with its objective, models, and Theorem 1."""
