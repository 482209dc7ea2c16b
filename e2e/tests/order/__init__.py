"""Which pod goes next, and on which node."""
