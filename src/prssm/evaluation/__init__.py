"""Judges models: comparison with plain ones, benchmark, search, and the jobs that run them."""
