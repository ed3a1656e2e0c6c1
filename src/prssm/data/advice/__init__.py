"""What looks wrong in recordings, or could be better, before anything is fitted."""
