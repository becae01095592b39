"""Referees that share no code with the package: objectives in long double, and the best models by brute force."""
