"""Execution time-outs of applications (ACT-40 to ACT-46)."""
