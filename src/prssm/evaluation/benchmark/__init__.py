"""The paper's benchmark: what is run, one experiment, the published tables beside ours."""
