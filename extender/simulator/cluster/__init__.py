"""The played cluster: API server, disruption controller, garbage collector, evictions and virtual clock.

Paddock's effects are carried out here, too.
"""
