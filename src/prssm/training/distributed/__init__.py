"""One training run on many devices and in several processes."""
