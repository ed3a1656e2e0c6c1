"""What comes in: recordings and files, and what is made of them.

The catalogue of public sets, simulators, scaling and windows are here, too.
"""
