"""Carry out the effects of the core on the API server."""
