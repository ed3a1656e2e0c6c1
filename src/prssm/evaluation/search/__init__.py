"""Sweeps and searches over options, judged on held-out training data."""
