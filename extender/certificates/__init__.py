"""Serving certificates that Paddock makes and renews by itself, and the Secret that all instances share."""
