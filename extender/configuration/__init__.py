"""Configuration from ConfigMaps, files, flags and the environment, and its reload."""
