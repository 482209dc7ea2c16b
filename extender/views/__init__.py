"""Views for people: stories of pods, recent plans, and queues as in YuniKorn's REST interface."""
