"""Gaussian-process algebra: knows no time and no files."""
