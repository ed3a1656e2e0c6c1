"""The version of the program: the one place to change it."""

__version__ = "0.1.0"
