"""Guarantees, victims and evictions."""
