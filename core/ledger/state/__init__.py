"""State of the ledger, in parts with one owner each."""
