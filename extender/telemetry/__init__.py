"""Metrics, the log, and the witness that feeds both."""
