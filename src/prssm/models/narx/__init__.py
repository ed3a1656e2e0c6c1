"""Autoregressive Gaussian processes: GP-NARX, NIGP, MSGP and what they share."""
