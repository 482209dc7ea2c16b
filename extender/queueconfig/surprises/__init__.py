"""Legal parts of a queue document with another effect than it seems, for ``paddock check``."""
