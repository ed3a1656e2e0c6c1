"""A fitted model in another language: one description, and a file for each target."""
