"""One step of a fitted model at a time, for controllers."""
