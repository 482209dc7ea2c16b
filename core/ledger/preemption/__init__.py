"""Preemption in the ledger: attempts, offers, plans, victims, quota reclaim."""
