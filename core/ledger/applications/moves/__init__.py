"""Moves of applications to other queues, by order of an administrator."""
