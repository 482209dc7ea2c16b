"""Bodies of kube-scheduler's calls: requests, answers, and reports on bodies that cannot be read."""
