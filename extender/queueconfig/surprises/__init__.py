"""Valid parts of a queue document with an unexpected effect, for ``paddock check``."""
