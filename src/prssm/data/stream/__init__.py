"""Data larger than memory, in a folder that training reads as it goes."""
