"""Thin calls into the compiled core: arrays in the solver's scale go down, models come back."""
