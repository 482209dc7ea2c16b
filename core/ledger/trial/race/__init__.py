"""Race: turns before an ask, counted with plain integers."""
