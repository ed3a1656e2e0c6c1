"""What comes in: recordings, files, the catalogue of public sets, simulators, scaling and
windows.
"""
