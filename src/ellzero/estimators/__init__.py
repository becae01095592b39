"""Scikit-learn's way to ellzero: estimators, cross-validation, stability selection, model files."""
