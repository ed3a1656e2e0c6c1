"""SS-GP-SSM: a state-space model on basis functions, by particle Gibbs."""
