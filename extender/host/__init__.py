"""The host and the process: clocks, users' groups, the garbage collector."""
