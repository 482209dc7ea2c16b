"""The command ``paddock check``: verdicts on queue documents, manifests, scheduler configurations. Pure."""
