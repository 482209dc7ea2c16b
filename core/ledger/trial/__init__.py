"""Trial of a change: a cycle over copies of the parts of the ledger that it changes."""
