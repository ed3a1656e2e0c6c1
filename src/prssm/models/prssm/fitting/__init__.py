"""From records to trained restarts: folds, groups, the race and its referee."""
