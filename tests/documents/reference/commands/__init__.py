"""Pages of the commands `paddock` and `kubectl paddock`."""
