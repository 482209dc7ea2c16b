"""Read access of the rules to trials of what does not exist: a part of `LedgerView`."""

from collections.abc import Collection, Sequence

from core.ids import PodUid, QueuePath
from core.ledger.admission.order.view import OrderView
from core.ledger.admission.turns import old_turns
from core.ledger.pods.record import PodRecord
from core.ledger.trial.arrival import Arrival, arrived
from core.ledger.trial.change import Change
from core.ledger.trial.race.race import Race
from core.ledger.trial.trial import Trial
from core.ledger.trial.turns import given_without
from core.queues.limit_state import LimitKey
from core.queues.quota_check import Extra
from core.workload.nodes.node import NodeFacts
from core.workload.pod import PodFacts


class TrialView(OrderView):
    """Read access to trials. They change nothing."""

    __slots__ = ()

    def trial(
        self,
        uid: PodUid,
        change: Change,
        below: Collection[QueuePath] | None = None,
        *,
        measure: Change | None = None,
        exact: bool = False,
    ) -> Trial:
        """Trial cycle after a change, to be run by the caller, with the ledger as it is now.

        ``below``: queues whose asks may gain by it; None for all. Changes nothing. The others, and the cost:
        see `Trial`.
        """
        return Trial(self._state, uid, change, below, measure=measure, exact=exact)

    def arrived(self, pods: Sequence[PodFacts]) -> Arrival:
        """State in which pods have arrived that do not exist. Changes nothing. The cost: see `arrived`."""
        return arrived(self._state, pods)

    def race(self, record: PodRecord, lifted: Collection[LimitKey], node: NodeFacts) -> Race:
        """Race of all asks up to one, with lifted limits and a node beyond all demand. Changes nothing."""
        return Race(self._state, record, lifted, node)

    @property
    def given_to_stay(self) -> Extra:
        """Amounts of the turns that the next cycle does not take back."""
        state = self._state
        return given_without(state.turns, old_turns(state))

    @property
    def gives_turns_anew(self) -> bool:
        """True if the next cycle takes back some turns first, and gives them anew if they still fit."""
        return bool(old_turns(self._state))
