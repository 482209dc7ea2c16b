"""Rates of a real control plane, one new control plane for each side of each round."""
