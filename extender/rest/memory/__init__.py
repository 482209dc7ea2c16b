"""What the ledger does not keep: histories, events and reasons. Bounded, lost with the process."""
