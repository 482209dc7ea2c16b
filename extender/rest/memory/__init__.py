"""Memory beside the ledger: histories, events and reasons. Bounded, lost with the process."""
