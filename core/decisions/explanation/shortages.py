"""Shortages of an ask as the ledger stands: what a change must cover at least."""

from collections.abc import Iterable
from dataclasses import dataclass

from core.decisions.explanation.nodes import RESERVED, NodeSurvey
from core.decisions.explanation.playing import raised, resized
from core.ledger.pods.record import PodRecord
from core.ledger.trial.change import Change
from core.ledger.trial.figures import Figures
from core.ledger.trial.moved import LedgerMovedOn
from core.ledger.view import LedgerView
from core.queues.limit_state import LimitKey, LimitKind, LimitState, limits_of_ask
from core.queues.queue import Queue
from core.resource import Resource
from core.workload.application import Application
from core.workload.nodes.node import NodeFacts


@dataclass(frozen=True, slots=True)
class Shortages:
    """An ask, its limits with their figures, and its nodes."""

    record: PodRecord
    leaf: Queue
    application: Application
    #: All limits on the ask, beside turns that stay. Limits of queues: on all members that start with it.
    limits: dict[LimitKey, LimitState]
    survey: NodeSurvey
    #: True if the next cycle takes back some turns first, so that nodes have more than the survey shows.
    gives_turns_anew: bool

    @property
    def of_limits(self) -> dict[LimitKey, int]:
        """Amounts missing under limits that can be raised."""
        return {key: each.short for key, each in self.limits.items() if each.short and is_raisable(key)}

    def may_be_raised(self, keys: Iterable[LimitKey]) -> bool:
        """False if one of the limits is of a queue that the document lacks, so that nobody can raise it."""
        draining = {each.path for each in self.leaf.chain if each.draining}
        return not any(key.path in draining for key in keys)

    @property
    def of_cluster(self) -> dict[str, int]:
        """Amounts missing in the sum of the nodes, by resource."""
        found = ((key, each) for key, each in self.limits.items() if key.kind is LimitKind.CLUSTER)
        return {key.resource: each.short for key, each in found if each.short}

    @property
    def lacks_node(self) -> bool:
        """True if no node takes the ask, or the nodes together are too small."""
        counts = self.survey.counts
        return bool(self.of_cluster) or not (counts.fitting or counts.left)

    @property
    def fits_nowhere(self) -> bool:
        """True if each node lacks something that no turn of others can give it."""
        counts = self.survey.counts
        return not (
            self.gives_turns_anew
            or counts.fitting
            or counts.left
            or counts.by_reason.get(RESERVED, 0)
            or self.of_cluster
        )


def is_raisable(key: LimitKey) -> bool:
    """True for a limit of a document, and False for the cluster's size."""
    return key.kind is not LimitKind.CLUSTER


def shortages_of(
    view: LedgerView, record: PodRecord, leaf: Queue, application: Application, survey: NodeSurvey
) -> Shortages:
    """Shortages of an ask. Cost: O(depth), and O(different sizes) of a pod group."""
    check, claimant, given = view.quota_check, application.claimant, view.given_to_stay
    known = {
        each.key: each for each in limits_of_ask(check, leaf.chain, claimant, record.facts.size, extra=given)
    }
    together = size_together(view, record)
    if together is not None:
        # Members may be of several users, but of one queue.
        for each in limits_of_ask(check, leaf.chain, claimant, together, extra=given):
            if each.key.resource and not each.key.name:
                known[each.key] = each
    return Shortages(record, leaf, application, known, survey, view.gives_turns_anew)


def size_together(view: LedgerView, record: PodRecord) -> Resource | None:
    """Least amounts that start with an ask of a pod group, its own among them (COS-3).

    None without a group, and for one of which some members hold capacity. Cost: O(different sizes).
    """
    group = view.unopened(record)
    if group is None or group.attempts or group.held or not group.complete:
        return None
    least, own = group.least, record.facts.size
    return Resource({name: max(least.get(name), own.get(name)) for name in {*least.names(), *own.names()}})


def measured(known: Shortages, figures: Figures, keys: Iterable[LimitKey], node: NodeFacts | None) -> Change:
    """The change that allows exactly what was taken up to the turn of the ask.

    Raises `LedgerMovedOn` if the limits are others by now.
    """
    lacking, used = known.of_limits, figures.used
    amounts: dict[LimitKey, int] = {}
    for key in keys:
        if key not in known.limits:
            raise LedgerMovedOn
        # The ask is a part of the usage of resources, but its application not of the number of others.
        needed = used[key] + (0 if key.resource else 1) if key in used else 0
        amounts[key] = max(lacking.get(key, 0), needed - known.limits[key].bound)
    if node is None:
        return Change(raised(amounts))
    sized = {name: max(amount, figures.on_node.get(name, 0)) for name, amount in node.allocatable.items()}
    for key, amount in used.items():
        # The new node also fills the gap of the cluster.
        if not is_raisable(key) and key.resource in sized and key in known.limits:
            sized[key.resource] = max(sized[key.resource], amount - known.limits[key].bound)
    return Change(raised(amounts), node=resized(node, sized))
