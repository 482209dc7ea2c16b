"""Files for users, made from the sources: the archive of `kubectl paddock` with its manifest for krew."""
