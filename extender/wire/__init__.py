"""Translation between core values and the formats of others: calls, objects, annotations and keys. Pure.

``translate`` makes core values from objects. ``placeholder`` makes the pods that are created for a gang.
"""
