"""Answers to kube-scheduler's four calls, and the checks that a call must pass before it is answered."""
