"""Pods that start together without placeholders."""
