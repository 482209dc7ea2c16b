"""Queues, quotas and the ledger. Pure: the standard library only, no clock, no network, no logging."""
