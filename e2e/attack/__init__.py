"""`make attack`: attacks with a tenant's own token and on the port of the verbs, each held or not."""
