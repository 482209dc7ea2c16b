"""Cache of encoded refusals. For 5,000 nodes, one refusal has 400 KB."""

from collections import OrderedDict
from collections.abc import Iterable

from extender.wire.calls import extender_v1 as v1


class RefusalCache:
    """Encoded refusals by text, for one set of nodes. The oldest are dropped when the memory is used up.

    ``most_bytes``: bytes of memory.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._size = 0
        self._node_set = -1
        self._encoded: OrderedDict[str, bytes] = OrderedDict()

    def encoded(self, text: str, node_set: int, names: Iterable[str]) -> bytes:
        """The encoded refusal with this text.

        ``node_set``: a number that changes with the set of nodes. ``names``: the nodes of that set.
        """
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
