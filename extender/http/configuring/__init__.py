"""The queue document over HTTP: its comparison with the one in force, and its write."""
