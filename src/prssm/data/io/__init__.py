"""Reads and writes files: a module a format; `files` finds the one for a suffix."""
