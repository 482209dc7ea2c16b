"""Admission of asks: pending index, turns, cycles, filter and bind, gates."""
