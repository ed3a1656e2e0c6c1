"""Filters of many states: bootstrap, and the conditional one of particle Gibbs."""
