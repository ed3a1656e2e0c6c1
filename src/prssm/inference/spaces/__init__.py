"""Parts of which state spaces are built: linear systems, GP functions, coloured noise."""
