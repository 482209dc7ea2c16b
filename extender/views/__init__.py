"""Views for people: stories of pods, and recent plans."""
