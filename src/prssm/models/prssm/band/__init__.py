"""The band of a free run: calibrated on held-out errors, wider where models of folds disagree."""
