"""Requests and watch streams to the API server, with its credentials and errors. Knows nothing about pods."""
