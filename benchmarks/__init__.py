"""Timings against peers, as Markdown reports; imports any room of ellzero but `experiments`, `report` and `cli`."""
