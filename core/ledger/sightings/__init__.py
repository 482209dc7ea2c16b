"""Sources that show pods: lists, watches, and the bodies of verbs."""
