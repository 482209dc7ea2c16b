"""Placement rules: the choice of a queue for an application."""
