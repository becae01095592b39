"""Make a failing case smaller (fewer rows, columns and options, rounder numbers) and write it down as a separate script."""
