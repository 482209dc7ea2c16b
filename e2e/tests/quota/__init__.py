"""Quotas hold, with gates and without, whatever comes at once."""
