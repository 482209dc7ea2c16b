"""The suite's own parts."""
