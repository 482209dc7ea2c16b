"""Authentication and authorization of callers, delegated to the API server. No requests are served here."""
