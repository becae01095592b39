"""The mathematics of one fit: losses, penalties, objective, models and Theorem 1; imports `base`, `design` and the core."""
