"""Bodies of kube-scheduler's calls: requests, answers, and reports about invalid bodies."""
