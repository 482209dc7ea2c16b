"""Plans in vain: asks that vanish before they are placed, after victims were evicted for them (F-25).

A user could create an ask, let it evict, delete it, and begin again, because limits per ask begin anew with
each ask. So plans in vain count per queue. After the third in ten minutes the queue gets no plan for a while,
which doubles with each repetition.

A dynamic queue counts as its namespace below the nearest configured queue. Otherwise each new queue would be
free. No namespace is charged for another one there. The counters live in memory only, so a restart clears
them.
"""

from core.ids import QueuePath
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.preemption import InVain, Payer
from core.ledger.state.state import State
from core.queues.queue import Queue

COUNTED_FOR = 600.0
"""Seconds that a plan in vain counts. After as many seconds without one, the next wait is a first wait
again."""

FREE = 2
"""Plans in vain in that time that have no consequence."""

FIRST_WAIT, LONGEST_WAIT = 15.0, 600.0

_MOST_DOUBLINGS = 6


def note_vanished(state: State, record: PodRecord) -> None:
    """Note that a pod is deleted. Only an ask for which victims were evicted or offered counts."""
    plans = record.preemption.plans + (record.uid in state.preemption.offers)
    leaf = _leaf_of(state, record)
    if record.node or not plans or leaf is None:
        return
    payer = payer_of(leaf, record.facts.namespace)
    known = state.preemption.in_vain.get(payer, InVain())
    recent = [each for each in known.moments if state.now - each < COUNTED_FOR]
    known = known._replace(moments=(*recent, *(state.now,) * plans)[-FREE - 1 :])
    state.preemption.plans_in_vain += plans
    state.preemption.in_vain[payer] = (
        _waiting(state, record, payer, known) if known.until <= state.now else known
    )


def _waiting(state: State, record: PodRecord, payer: Payer, known: InVain) -> InVain:
    """Record of a queue that does not wait, with the wait that begins now, if one does."""
    times = known.times if state.now - known.until < COUNTED_FOR else 0
    if not times and len(known.moments) <= FREE:
        return known
    wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(times, _MOST_DOUBLINGS))
    text = (
        f"Others had to go for this pod, which vanished before it was placed; so did {FREE} or more lately."
    )
    post(state, record, "PreemptionInVain", f"{text} The next plan of {payer.queue} waits {wait:.0f} s.")
    state.preemption.waits_for_vain += 1
    return known._replace(times=times + 1, until=state.now + wait, reported=False)


def waits_until(state: State, leaf: Queue, namespace: str) -> float:
    """Time from which plans may be made for a leaf again; 0 or a past time for now."""
    known = state.preemption.in_vain.get(payer_of(leaf, namespace)) if state.preemption.in_vain else None
    return known.until if known is not None else 0.0


def report_wait(state: State, record: PodRecord, leaf: Queue) -> None:
    """Report a wait on one ask that is due, once per wait."""
    payer = payer_of(leaf, record.facts.namespace)
    known = state.preemption.in_vain[payer]
    if not known.reported:
        state.preemption.in_vain[payer] = known._replace(reported=True)
        text = f"No plan is made for {payer.queue} for another {known.until - state.now:.0f} s: pods vanished"
        post(state, record, "PreemptionWaits", f"{text} before they were placed, after others had to go.")


def payer_of(leaf: Queue, namespace: str) -> Payer:
    """Key under which a plan for a leaf is counted."""
    if not leaf.dynamic:
        return Payer(leaf.path, "")
    return Payer(next(queue.path for queue in leaf.chain if not queue.dynamic), namespace)


def forgive(state: State) -> None:
    """Forget records that do not count any more."""
    for payer, known in list(state.preemption.in_vain.items()):
        last = max(known.until, *known.moments)
        if state.now - last >= COUNTED_FOR:
            del state.preemption.in_vain[payer]


def waiting_queues(state: State) -> dict[QueuePath, float]:
    """Queues that wait now, with the seconds that are left."""
    found: dict[QueuePath, float] = {}
    for payer, known in state.preemption.in_vain.items():
        if known.until > state.now:
            found[payer.queue] = max(found.get(payer.queue, 0.0), known.until - state.now)
    return found


def _leaf_of(state: State, record: PodRecord) -> Queue | None:
    application = state.application_of(record)
    return state.config.tree.get(application.queue) if application is not None and application.queue else None
