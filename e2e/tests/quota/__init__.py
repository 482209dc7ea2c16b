"""Quotas hold, with gates and without, however many pods come at once."""
