"""Execution time-outs as values."""
