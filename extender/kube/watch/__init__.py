"""Watches of objects on the API server, turned into events of the ledger."""
