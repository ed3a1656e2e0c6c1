"""Named public recordings: source, checksum, split, protocol. `catalogue` is the door."""
