"""Installations of the chart: their roles, their processes, and the pages that install them."""
