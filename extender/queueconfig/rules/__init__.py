"""Rules for queue documents that match the schema, by subject."""
