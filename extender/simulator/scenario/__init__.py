"""Scenario files: their entries as values, the reading of them, and the Kubernetes objects they stand for."""
