"""Everything that talks to the API server: connection, watches, effects and the Lease."""
