"""Gangs in the ledger: placeholders, and their replacement by members."""
