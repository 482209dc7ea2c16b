"""Gangs: their definition, phases and progress, as values."""
