"""Paddock in one process, with an engine and its verbs, and without an API server."""
