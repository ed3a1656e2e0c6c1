"""A fitted model as functions of CasADi, for optimisation and model-predictive control."""
