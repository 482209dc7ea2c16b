"""Case of an ask that wants victims: the facts gathered once for a plan."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass

from core.decisions.preemption.laws import Wanted
from core.decisions.preemption.receipts import Victim
from core.ids import NO_NODE, NodeName, QueuePath
from core.ledger.pods.record import Held, PodRecord, Standing
from core.ledger.settings import PreemptionSettings
from core.ledger.view import LedgerView
from core.queues.fence import Fence, Reach, fence_of, reach
from core.queues.queue import Queue
from core.queues.whatif import WhatIf
from core.resource import ZERO, Resource
from core.workload.budget import forbids


@dataclass(frozen=True, slots=True)
class Case:
    """Case of a pending ask in its leaf."""

    #: Record of the ask.
    record: PodRecord
    #: Leaf in which the ask is pending.
    leaf: Queue
    #: Amounts that it asks for.
    size: Resource
    #: Positive amounts that it asks for.
    wanted: Wanted
    #: Settings of preemption.
    settings: PreemptionSettings
    #: Usage of queues, without what the ask itself holds.
    usage: WhatIf
    #: Limit of the search for victims.
    fence: Fence
    #: Leaves to search, by path.
    reach: Mapping[QueuePath, Reach]
    #: Node on which capacity is held for the ask already; empty for none.
    held_on: NodeName
    #: Capacity that victims will free on its reserved node.
    coming: Mapping[str, int]

    def free_on(self, view: LedgerView, node: NodeName) -> Mapping[str, int]:
        """Amounts free for the ask on a node, including those of its victims under way. Read only."""
        free: Mapping[str, int] = view.free_on(node)
        if self.coming and node == self.record.node_reservation.node:
            free = with_capacity(free, self.coming)
        return free if node != self.held_on or not node else with_capacity(free, dict(self.size.items()))


_LEAVES_PER_STEP = 50


def case_of(view: LedgerView, record: PodRecord, leaf: Queue) -> Case:
    """Case of a pending ask in its leaf, at once. Cost: O(queues it can reach)."""
    steps = gather_case(view, record, leaf)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            case: Case = end.value
            return case


def gather_case(view: LedgerView, record: PodRecord, leaf: Queue) -> Generator[int, None, Case]:
    """Case of a pending ask in its leaf, in steps of some leaves."""
    settings, size = view.settings.preemption, record.facts.size
    promised, held_on = _held(view, record)
    usage = WhatIf(leaf.chain, size if promised else ZERO)
    fence = fence_of(leaf, priority=record.facts.priority, size=size, usage=usage)
    found: dict[QueuePath, Reach] = {}
    for number, each in enumerate(reach(fence, leaf, shared_ancestor=settings.shared_ancestor_priority), 1):
        found[each.leaf.path] = each
        if number % _LEAVES_PER_STEP == 0:
            yield _LEAVES_PER_STEP
    yield len(found) % _LEAVES_PER_STEP
    return Case(
        record,
        leaf,
        size,
        {name: amount for name, amount in size.items() if amount > 0},
        settings,
        usage,
        fence,
        found,
        held_on,
        view.coming(record),
    )


def with_capacity(free: Mapping[str, int], more: Mapping[str, int]) -> Mapping[str, int]:
    """Free amounts plus amounts that will be free."""
    return {name: free.get(name, 0) + more.get(name, 0) for name in {*free, *more}}


def _held(view: LedgerView, record: PodRecord) -> tuple[bool, NodeName]:
    """Pair: True if queues count the ask as promised, and the node on which capacity is held for it."""
    charge, turn = view.charge_of(record.uid), view.turns.get(record.uid)
    promised = charge is not None and (charge.held is Held.RESERVED or charge.standing is Standing.TRIGGERED)
    if charge is not None and charge.node:
        return promised, charge.node
    return promised, turn.node if turn is not None else NO_NODE


def victim_of(view: LedgerView, record: PodRecord, queue: QueuePath) -> Victim:
    """A running pod as a possible victim."""
    facts = record.facts
    application = view.application(record.membership.application) if record.membership.application else None
    first = application.originator if application is not None else None
    return Victim(
        record.uid,
        facts.namespace,
        facts.name,
        record.node,
        queue,
        facts.priority,
        facts.size,
        is_opted_out(view, record),
        first is not None and first[-1] == record.uid,
        facts.created,
        forbids(view.budgets, facts.namespace, facts.labels),
        record.seq,
    )


def is_opted_out(view: LedgerView, record: PodRecord) -> bool:
    """True if a pod opts out, by its own annotation or else by its class's (PRE-4)."""
    own = record.facts.allow_preemption
    if own:
        return own == "false"
    named = view.priority_class(record.facts.priority_class) if record.facts.priority_class else None
    return named is not None and named.allow_preemption == "false"
