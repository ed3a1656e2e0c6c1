"""The command line: words in, files and tables out.

Everything slow is imported inside the commands, never above them.
"""
