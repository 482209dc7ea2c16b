"""Series for Prometheus that are read from elsewhere for each scrape."""
