"""Condition under which a search over the live ledger must begin again."""


class LedgerMovedOn(Exception):
    """Signal that what a search had read is gone, since events were applied between two of its steps."""
