"""Serving certificates that Paddock makes and renews, and the Secret that all instances share."""
