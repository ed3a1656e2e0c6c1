"""Dynamical models: a file for each method, all under the contract of `base.Estimator`."""
