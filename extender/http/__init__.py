"""Listeners: connections, bodies, routes, and the mapping of faults to answers."""
