"""Small recurrent networks beside the levels: how large, trained on what, and as a contender."""
