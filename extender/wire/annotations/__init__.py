"""Annotations that users write on pods: gangs, task groups, identities. Input is hostile."""
