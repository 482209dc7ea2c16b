"""Rules of preemption: laws, plans, and the order in which plans are made."""
