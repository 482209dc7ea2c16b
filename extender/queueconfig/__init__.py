"""YuniKorn's queue documents: text to the queues of the core, or every reason why not. Pure.

``load`` runs the steps in order: ``document`` and ``parsing`` read the text, ``rules`` check it, and
``translation`` makes the values. ``surprises`` finds what is legal and does not do what it seems to.
"""
