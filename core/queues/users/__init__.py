"""Users and groups: identity, access lists, limits."""
