"""What the page asks for: each file answers the questions of one part of the page."""
