"""Benchmarks: ratios within one run, as one JSON line each. A slow time never fails one."""
