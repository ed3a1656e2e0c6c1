"""A fitted model as an environment in which a policy is trained."""
