"""Administration on whole servers: actions, the queue document, and their records."""
