"""Series that YuniKorn's dashboards and alerts ask for (METRIC-1 to METRIC-18)."""
