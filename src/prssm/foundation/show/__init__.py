"""How objects show themselves: pictures as text, and cards of HTML for a notebook."""
