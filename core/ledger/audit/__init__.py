"""The audit: a recount of everything that is derived."""
