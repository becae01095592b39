"""Estimators in the manner of scikit-learn: single fits, cross-validation, stability selection, and loading model files."""
