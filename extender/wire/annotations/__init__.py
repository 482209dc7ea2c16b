"""Annotations that users write on pods: gangs, task groups and identities. Input may be hostile."""
