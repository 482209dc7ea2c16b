"""HTTP server of kube-scheduler's verbs. It is apart from all others, since kube-scheduler waits for it."""
