"""A moment of the ledger, taken although it is looked at in slices (REST-45)."""
