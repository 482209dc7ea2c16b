"""Requests and streams to the API server, its credentials and its errors. Knows nothing of pods."""
