"""Objects of the cluster other than pods."""
