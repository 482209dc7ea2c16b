"""Views for users: stories of pods, and recent plans."""
