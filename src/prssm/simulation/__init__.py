"""What comes out: predictions in physical units, and how good they are."""
