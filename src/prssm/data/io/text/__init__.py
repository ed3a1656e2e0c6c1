"""Text tables: how a file is laid out, and what a cell means."""
