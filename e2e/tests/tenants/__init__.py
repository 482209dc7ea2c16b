"""What tenants and callers may say, and whose an application is."""
