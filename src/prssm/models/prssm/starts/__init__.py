"""Where training starts: random walks and linear models of the data."""
