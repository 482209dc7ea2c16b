"""Rules that a well-shaped queue document must obey, by subject."""
