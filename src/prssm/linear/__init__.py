"""Linear systems: subspace start, output-error refinement, order, first state.

Knows no files and no command line.
"""
