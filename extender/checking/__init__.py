"""Checks of queue documents, manifests and scheduler configurations, for ``paddock check``. Pure."""
