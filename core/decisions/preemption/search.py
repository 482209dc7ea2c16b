"""Search space for victims: leaves whose pods may be evicted, and nodes with enough of them.

Leaves are ruled out by law before any pod is checked, and nodes by the sum of possible victims. Only the
remaining pods are checked one by one.
"""

from collections.abc import Iterable, Iterator, Mapping

from core.decisions.preemption import laws
from core.decisions.preemption.case import Case, victim_of
from core.decisions.preemption.receipts import Finding, Victim
from core.ids import NodeName, PodUid, QueuePath
from core.ledger.view import LedgerView
from core.queues.fence import Reach
from core.queues.guarantees import Amounts, below_common, losable, remaining
from core.queues.properties import PreemptionPolicy
from core.queues.queue import Queue
from core.resource import Resource
from core.workload.nodes.affinity import ANYWHERE, why_not
from core.workload.nodes.node import Evictable, NodeFacts, Rung

_NO_ORIGINATOR = (0.0, 0, PodUid(""))
"""In place of the originator, for an application that has placeholders only."""


class Open:
    """Leaves whose pods may be evicted, with the most that each may lose, and the reasons against the others.

    Nothing is known before `judge_leaves` has run to its end.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._spare: dict[QueuePath, Amounts] = {}
        self._rungs: dict[Rung, Amounts | None] = {}
        self.closed: list[tuple[QueuePath, Finding]] = []

    def judge_leaves(self) -> Iterator[None]:
        """Judge the leaves, one per step."""
        case = self._case
        for path, each in case.reach.items():
            finding = self._why_closed(each)
            if finding is None:
                self._spare[path] = losable(case.usage, below_common(each.leaf, case.leaf))
            elif finding.law:
                self.closed.append((path, finding))
            yield

    def __bool__(self) -> bool:
        return bool(self._spare)

    def leaves(self) -> Iterator[Reach]:
        """Leaves whose pods may be evicted."""
        return (self._case.reach[path] for path in self._spare)

    def spare_of(self, leaf: Queue) -> Amounts:
        """Most that an open leaf may lose. Everything, for a name that is absent."""
        return self._spare[leaf.path]

    def spare(self, rung: Rung) -> Amounts | None:
        """Most that pods of a leaf and priority may lose in all. None if none of them may be evicted."""
        try:
            return self._rungs[rung]
        except KeyError:
            return self._rungs.setdefault(rung, self._spare_of(rung))

    def rules_out(self, victim: Victim) -> bool:
        """True if a victim alone exceeds what its queue may lose, or is too important."""
        spare = self.spare(Rung(victim.queue, victim.priority))
        return spare is None or any(
            amount > spare.get(name, amount) for name, amount in victim.size.items() if amount > 0
        )

    def _spare_of(self, rung: Rung) -> Amounts | None:
        spare = self._spare.get(rung.queue)
        allowed = laws.is_no_more_important(self._case.reach.get(rung.queue), rung.priority)
        return spare if allowed else None

    def _why_closed(self, each: Reach) -> Finding | None:
        """Reason against the pods of a leaf, or None.

        A finding without a law means that nothing runs there.
        """
        case, leaf = self._case, each.leaf
        if not any(case.usage.used(leaf).values()):
            return Finding("", "")
        if leaf.properties.preemption is PreemptionPolicy.DISABLED:
            return Finding("PRE-2", "preemption.policy is disabled")
        rest = remaining(case.usage, leaf, case.leaf)
        if not laws.is_above_guarantee(rest, case.wanted):
            return Finding("LAW-5", f"left to its guarantee: {laws.numbers(rest)}")
        return None


def could_help(case: Case, open_: Open) -> bool:
    """True if the ask's queue would be below its guarantee after all possible evictions (PRE-10)."""
    usage = case.usage.before()
    may_exceed = case.settings.may_exceed_guarantee
    rest = remaining(usage, case.leaf, case.leaf)
    if laws.is_below_guarantee(rest, case.wanted, may_exceed=may_exceed):
        return True
    if rest is None:
        return False
    for each in open_.leaves():
        usage.remove(each.leaf, Resource(case.usage.used(each.leaf)))
    rest = remaining(usage, case.leaf, case.leaf)
    return laws.is_below_guarantee(rest, case.wanted, may_exceed=may_exceed)


def why_unfit(case: Case, node: NodeFacts, *, given: bool) -> str:
    """Reason against a node, whatever runs on it. Empty for none (PRE-12).

    ``given``: True if kube-scheduler has checked the constraints.
    """
    if not node.allocatable.covers(case.size):
        return "too small"
    constraints = case.record.facts.constraints
    if given or (constraints is ANYWHERE and not node.taints and not node.unschedulable):
        return ""
    return why_not(node, constraints)


def may_suffice(open_: Open, evictable: Evictable, short: Mapping[str, int], hardest: list[str]) -> bool:
    """True if all possible victims of a node might free what it lacks: a quick upper bound.

    ``hardest``: types in the order in which they are checked. The type that fails moves to the front, because
    it likely fails on the next node too.
    """
    groups = [
        (group.total, spare)
        for rung, group in evictable.groups.items()
        if (spare := open_.spare(rung)) is not None
    ]
    for place, name in enumerate(hardest):
        missing = short.get(name, 0)
        for total, spare in groups:
            if missing <= 0:
                break
            got = total.get(name, 0)
            missing -= min(got, max(0, spare[name])) if name in spare else got
        if missing > 0:
            hardest.insert(0, hardest.pop(place))
            return False
    return True


def candidates_on(
    view: LedgerView, case: Case, open_: Open, evictable: Evictable
) -> list[tuple[Victim, Queue]]:
    """Pods of a node that may be evicted, in order (PRE-11)."""
    found: list[tuple[Victim, Queue]] = []
    for rung, group in evictable.groups.items():
        if open_.spare(rung) is not None:
            leaf = case.reach[rung.queue].leaf
            for uid in group.pods:
                record = view.pod(uid)
                if record is not None and laws.is_of_another(
                    record.membership.application, case.record.membership.application
                ):
                    found.append((victim_of(view, record, rung.queue), leaf))
    found = [each for each in found if not open_.rules_out(each[0])]
    found.sort(key=lambda each: each[0].order)
    return found


def may_cover(
    case: Case, open_: Open, leaves: Iterable[Queue], short: Iterable[tuple[Queue, str, int]]
) -> bool:
    """True if all possible victims of those leaves free what queues lack: an upper bound."""
    leaves = list(leaves)
    return all(
        sum(_most(case, open_, leaf, name) for leaf in leaves if queue in leaf.chain) >= excess
        for queue, name, excess in short
    )


def _most(case: Case, open_: Open, leaf: Queue, name: str) -> int:
    used, spare = case.usage.used(leaf).get(name, 0), open_.spare_of(leaf)
    return max(0, min(used, spare.get(name, used)))


def candidates_in(
    view: LedgerView, case: Case, open_: Open, leaves: Iterable[Queue], but: frozenset[str]
) -> Iterator[tuple[Victim | None, Queue]]:
    """Pods of leaves, wherever they run: each as a victim, or None if it may not be evicted.

    ``but``: uids left out. Pods of the newest application come first, whatever the names are.
    """
    applications = [
        (application.originator or _NO_ORIGINATOR, app_id, application, leaf)
        for leaf in leaves
        for app_id in leaf.applications
        if (application := view.application(app_id)) is not None
    ]
    for *_, application, leaf in sorted(applications, key=lambda each: each[:2], reverse=True):
        if not laws.is_of_another(application.id, case.record.membership.application):
            continue
        for uid in sorted(application.pods):
            yield _candidate(view, open_, leaf, uid, but), leaf


def _candidate(view: LedgerView, open_: Open, leaf: Queue, uid: PodUid, but: frozenset[str]) -> Victim | None:
    record = view.pod(uid)
    if record is None or not record.node or not record.evictable or uid in but:
        return None
    victim = victim_of(view, record, leaf.path)
    return None if open_.rules_out(victim) else victim


def names_of(candidates: frozenset[NodeName] | None, view: LedgerView) -> list[NodeName]:
    """Nodes to check, in name order."""
    nodes = view.nodes
    return sorted(nodes if candidates is None else (name for name in candidates if name in nodes))
