"""The report on one fitted model."""
