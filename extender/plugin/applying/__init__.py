"""Parts of the command `apply`: the ConfigMap, what is shown before a write, and instances to wait for."""
