"""Functional mock-up units for co-simulation, FMI 2.0 and 3.0, around the C code."""
