"""Routes of the interface: which path asks for what, and which fault is told first. Pure functions."""
