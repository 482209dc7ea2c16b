"""Clusters with Paddock in them, wired as `manifests/` ships it, by what a test is about."""
