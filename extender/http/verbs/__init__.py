"""HTTP server for kube-scheduler's verbs, which adds little time to each call."""
