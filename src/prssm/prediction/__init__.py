"""What a run is, in physical units: its band, its scores, its picture."""
