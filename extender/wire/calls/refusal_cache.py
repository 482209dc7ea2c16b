"""Refusals as bytes, kept while the nodes stay the same: a large cluster has one of 400 KB per text."""

from collections import OrderedDict
from collections.abc import Iterable

from extender.wire.calls import extender_v1 as v1


class RefusalCache:
    """Encoded refusals by text, for one set of nodes; the oldest go when the memory is used up."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._size = 0
        self._node_set = -1
        self._encoded: OrderedDict[str, bytes] = OrderedDict()

    def encoded(self, text: str, node_set: int, names: Iterable[str]) -> bytes:
        """``names`` must be those of ``node_set``, which changes whenever they do."""
        if node_set != self._node_set:
            self._encoded.clear()
            self._size, self._node_set = 0, node_set
        known = self._encoded.get(text)
        if known is None:
            known = self._encoded[text] = v1.unresolvable_nodes(names, text)
            self._size += len(known)
            while self._size > self._most and len(self._encoded) > 1:
                self._size -= len(self._encoded.popitem(last=False)[1])
        return known
