"""Services of the host and the process: clocks, groups of users, and the garbage collector."""
