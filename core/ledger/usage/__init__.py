"""Usage: charges and counters, quota reservations, usage above a max."""
