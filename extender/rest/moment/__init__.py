"""Consistent moments of the ledger, although they are read in slices (REST-45)."""
