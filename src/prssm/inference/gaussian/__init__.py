"""Gaussian filters: extended, unscented, and the update that both end with."""
