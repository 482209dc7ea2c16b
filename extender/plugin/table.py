"""Commands of `kubectl paddock`. Nothing is imported here, so that others read the names at no cost."""

COMMANDS = {
    "queues": ("queues", "queues"),
    "queue": ("queues", "queue"),
    "apps": ("apps", "apps"),
    "app": ("apps", "app"),
    "pods": ("apps", "pods"),
    "explain": ("explaining", "explain"),
    "users": ("cluster", "users"),
    "groups": ("cluster", "groups"),
    "nodes": ("cluster", "nodes"),
    "events": ("cluster", "events"),
    "preemptions": ("cluster", "preemptions"),
    "config": ("documents", "config"),
    "check": ("documents", "check"),
    "diff": ("documents", "diff"),
    "simulate": ("simulating", "simulate"),
    "status": ("service", "status"),
    "top": ("service", "top"),
    "wait": ("apps", "wait"),
    "open": ("service", "open_page"),
    "close-queue": ("closing", "close_queue"),
    "open-queue": ("closing", "open_queue"),
    "version": ("service", "version"),
    "completion": ("completion", "completion"),
}
"""Module and function of each command."""
