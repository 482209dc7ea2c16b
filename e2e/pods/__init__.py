"""Pods started from rendered objects, without a container engine: namespaces, mounts, accounts and probes."""
