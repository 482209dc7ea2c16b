"""Metrics as a real Prometheus reads them."""
