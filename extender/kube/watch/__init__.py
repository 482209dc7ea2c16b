"""Collections of the API server, followed and turned into events."""
