"""Worlds in which benchmarks run, and the form of a figure."""
