"""Answers made from facts. Pure functions: no clock, no network, everything sorted (REST-25)."""
