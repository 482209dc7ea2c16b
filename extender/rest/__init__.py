"""YuniKorn's REST interface: answers as values, and pure functions that build them from the ledger."""
