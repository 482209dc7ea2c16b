"""Arithmetic of the benchmarks of a cluster, on readings and times that are made up."""
