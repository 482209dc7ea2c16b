"""How the rules of gates that are the only guard are switched off."""

from core.ledger.pods.record import PodRecord
from tests.scenarios.mutating import Mutate, fixed

GUARDED = fixed(PodRecord, "is_unguarded", False)
"""As if filter were called for every pod: an opened gate is a turn, which ends."""

GATE: dict[str, Mutate] = {
    "gate-alone-without-a-scheduler": GUARDED,
    "gate-removed-by-another": GUARDED,
}
