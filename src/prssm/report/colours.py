"""Colours of figures beyond those of a prediction, shared by printed and explorable ones."""

QUIET = "#9aa3ab"
TEXT = "#3b4248"
GRID = "#e3e6e9"
OTHERS = ("#5b8c5a", "#7d5ba6", "#a6705b", "#4a90a4")
