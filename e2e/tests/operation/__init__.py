"""Shipped configurations, edits, outages, restores and leaders."""
