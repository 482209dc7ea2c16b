"""Order in which a cycle checks pending asks."""
