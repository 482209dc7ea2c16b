"""Clusters with Paddock in them, installed as `manifests/` ships it, by the subject of a test."""
