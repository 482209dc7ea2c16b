"""Nodes: their facts, their free capacity, and the order in which they are scored."""
