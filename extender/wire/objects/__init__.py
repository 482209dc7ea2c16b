"""Kubernetes objects as far as Paddock reads them, and the sizes of pods and nodes."""
