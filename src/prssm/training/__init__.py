"""From a loss and a start to a trained set of parameters: generic, knows no model."""
