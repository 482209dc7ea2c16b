"""Answers to kube-scheduler's four calls, and what decides whether a call may be answered at all."""
