"""The project folder: its logs, its models, and what was chosen for each log."""
