"""Programs that a test runs, each a process of its own, and the proxy between two of them."""
