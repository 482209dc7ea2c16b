"""Past amounts of queues: packed, bounded in memory, and lost by a restart (REST-50)."""
