"""Gangs with placeholders."""
