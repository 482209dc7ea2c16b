"""Applications in the ledger: placement, lifecycle, rejection, users."""
