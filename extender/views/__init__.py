"""What people are shown: stories of pods, recent plans, and queues as in YuniKorn's REST interface."""
