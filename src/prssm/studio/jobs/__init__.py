"""Training jobs: command lines in processes of their own, which outlive a page and a server."""
