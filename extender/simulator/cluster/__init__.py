"""The played cluster: API server, disruption and garbage controllers, evictions, and the virtual clock.

Also the effects of Paddock, carried out on that API server.
"""
