"""Claims of tenants and callers, and the owner of an application."""
