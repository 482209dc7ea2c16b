"""Kubernetes objects, reduced to the fields that Paddock reads, and the sizes of pods and nodes."""
