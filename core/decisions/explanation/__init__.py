"""Explanation of what stands between a pod and a node, and of the smallest change that frees it."""
