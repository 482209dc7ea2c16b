"""Effects of the core, carried out on the API server."""
