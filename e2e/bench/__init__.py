"""Benchmarks: ratios within one run, one JSON line each. They never fail on a time."""
