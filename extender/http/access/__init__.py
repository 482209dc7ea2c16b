"""Guards of listeners: callers who are let through to a handler, and the TLS that certifies them."""
