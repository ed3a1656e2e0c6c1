"""The benchmark: one experiment, its record, the runs over seeds and machines, and the tables
beside the published ones.
"""
