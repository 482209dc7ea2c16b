"""Nodes that are reserved for one ask, and the search for one."""
