"""Metrics, the log, and the witness that writes both."""
