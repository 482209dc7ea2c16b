"""Histories, events and reasons, stored beside the ledger. They are bounded, and a restart loses them."""
