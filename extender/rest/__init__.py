"""YuniKorn's REST interface: its answers as values, and pure functions that make them from the ledger."""
