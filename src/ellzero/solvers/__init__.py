"""Thin calls into the compiled core, with models turned between its scale and the user's; imports `base` and `problem`."""
