"""Rules: what is decided about a question, over a view of the ledger."""
