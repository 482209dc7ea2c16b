"""The order of pods, and the choice of their nodes."""
