"""The simulator against the real control plane, and its page in a browser."""
