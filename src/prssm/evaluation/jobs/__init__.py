"""Runs jobs here, on local processes or on a cluster, and keeps what they found."""
