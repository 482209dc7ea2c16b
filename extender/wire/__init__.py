"""Translation between what others write and values of the core: calls, objects, annotations, keys. Pure.

``translate`` makes core values of objects, ``placeholder`` makes the pod that is created for a gang.
"""
