"""Applications that share an id, and how each is shown: what views read of it (F-15)."""

from collections.abc import Sequence

from core.ids import AppId
from core.ledger.applications.ended import last_ended
from core.ledger.applications.relabelled import relabelling_text
from core.ledger.pods.record import PodRecord
from core.ledger.state.applications import IdentityTally
from core.ledger.state.state import State
from core.workload.application import Application


class Identities:
    """Read access to identities; see `core.ledger.applications.membership` for the rules."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def tally(self) -> IdentityTally:
        """Numbers of reports since the process began. Read only."""
        return self._state.applications.tally

    def named(self, name: str) -> Sequence[Application]:
        """All live applications of an id: placed ones first, then by namespace."""
        found = sorted(
            self._state.applications.namesakes.get(name, ()), key=lambda each: (each.recovered, each)
        )
        return [self._state.applications.known[app_id] for app_id in found]

    def ended(self, name: str) -> Application | None:
        """Latest ended application of an id that is still shown (APP-14)."""
        return last_ended(self._state, name)

    def all_ended(self) -> Sequence[Application]:
        """Applications that have ended and are still shown, the latest last (APP-14); only to be read."""
        return self._state.applications.terminated

    def relabelling(self, record: PodRecord) -> str:
        """Text about a pod whose labels have changed; empty for any other pod (F-23)."""
        return relabelling_text(self._state, record)

    def shown(self, app_id: AppId) -> str:
        """Name of an application: the id alone if it is unique among live ones, else with the namespace."""
        return (
            app_id.name if len(self._state.applications.namesakes.get(app_id.name, ())) < 2 else str(app_id)
        )
