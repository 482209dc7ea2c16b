"""Everything that a ledger stores, as bytes, to show that a question changes nothing."""

import io
import pickle
from typing import Any

from core.ledger.ledger import Ledger
from core.resource import Resource, Tally
from tests.builders import drifts


class _Painter(pickle.Pickler):
    """A pickler that leaves out what amounts remember of themselves, such as their hash."""

    def reducer_override(self, obj: Any) -> Any:
        """How an object is made again, or NotImplemented for the usual way."""
        if isinstance(obj, (Resource, Tally)):
            return type(obj), (obj.copied(),)
        return NotImplemented


def picture_of(ledger: Ledger) -> bytes:
    """The whole ledger, audited. The audit also brings the order of nodes up to date, as any reader may."""
    assert drifts(ledger) == []
    painted = io.BytesIO()
    _Painter(painted).dump(ledger)
    return painted.getvalue()
