"""Small recurrent networks, trained on their free runs: a prior mean for the transition."""
