"""The studio: identify a system in the browser (`prssm studio`, extra `studio`).

The page holds no mathematics. It asks this server, which calls the functions of the library that
the command line calls, and keeps everything in a project folder that the command line understands.
"""
