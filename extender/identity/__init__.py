"""Authentication and authorization of callers, delegated to the API server. Serves no request itself."""
