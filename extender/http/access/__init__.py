"""Guards of listeners: which callers may reach a handler, and the TLS that identifies them."""
