"""Pure functions that build answers from facts: no clock, no network, everything sorted (REST-25)."""
