"""Queues: specification, properties, tree, quotas, guarantees, placement, users."""
