"""An instance begins to act, or no longer does: gangs go on from what is on the objects, as after a restart.

While another one acts, only the watch tells what becomes of a gang: which member takes over which room is
written on the pods and is not followed. Whoever begins to act therefore forgets what it thought of gangs.
"""

from collections.abc import Iterable

from core.ids import NO_POD
from core.ledger.accounts import settle
from core.ledger.formations import unfile
from core.ledger.forming import begin_all
from core.ledger.record import PodRecord
from core.ledger.state import State
from core.ledger.takeover import remember_slot, resume_slots


def change_charge(state: State, *, acts: bool) -> None:
    """``acts``: whether this instance acts on its own account from now on."""
    began = acts and not state.acts
    state.acts = acts
    if began and state.pods_listed:
        records = list(_pods_of_gangs(state))
        _forget(state, records)
        for record in records:
            record.believed = True
            if record.facts.replaces and record.is_ask:
                remember_slot(state, record)
        begin_all(state)
        resume_slots(state)


def _pods_of_gangs(state: State) -> Iterable[PodRecord]:
    for app_id in sorted(state.applications):
        application = state.applications[app_id]
        if application.formation is not None:
            yield from (state.pods[uid] for uid in sorted(application.pods))


def _forget(state: State, records: Iterable[PodRecord]) -> None:
    """All that is not on the objects."""
    for record in records:
        unfile(state, record)
        record.yields_to, record.released, record.forgone = NO_POD, False, False
    for application in state.applications.values():
        application.formation = None
    for record in records:
        settle(state, record)
