"""Scenario files: their entries as values, their reader, and the Kubernetes objects that they stand for."""
