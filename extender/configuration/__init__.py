"""From ConfigMaps, files, flags and environment to the queues and settings in force."""
