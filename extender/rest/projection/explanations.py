"""Answers about explanations. What the caller may not read is summed by queue, without names."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.decisions.explanation import phrases
from core.decisions.explanation import values as core
from core.ids import PodUid
from core.ledger.trial.change import Change
from core.ledger.view import LedgerView
from core.queues.limit_state import LimitState
from core.reasons import Code
from extender.rest.model import explanations as shown
from extender.rest.projection.units import amounts, moment_text

_OF_NODES = frozenset[Code | core.Barrier]({Code.UNSCHEDULABLE, core.Barrier.OWN_NODE})
"""Obstacles whose subject is a node, or the pod itself."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Caller of an explanation. ``names_others``: whether it may read names of all namespaces and nodes."""

    namespace: str
    names_others: bool

    def may_name(self, namespace: str) -> bool:
        """True if names of a namespace are shown."""
        return self.names_others or namespace == self.namespace


def pod_of(view: LedgerView, found: core.PodExplanation, reader: Reader) -> shown.ExplainedPod:
    """Build the answer for a pod. ``view``: names the pods that a change would end."""
    return shown.ExplainedPod(
        pod=shown.ObjectName(namespace=found.namespace, name=found.name),
        queue=found.queue or "",
        application=found.application.name if found.application is not None else "",
        standing=found.standing.value,
        sentence=phrases.verdict_on(found),
        obstacles=tuple(_obstacle(each, found, reader) for each in found.obstacles),
        nodes=_nodes(found.nodes, reader),
        before=tuple(_before(found.before, reader)),
        preemption=_preemption(found.preemption, reader) if found.preemption is not None else None,
        remedies=_remedies(view, found.remedies, reader) if found.remedies is not None else None,
    )


def members_of(found: core.TogetherExplanation) -> tuple[shown.MemberNumbers, ...]:
    """Build the answers for the task groups of an application, or for a pod group."""
    return tuple(
        shown.MemberNumbers(
            name=each.name,
            needed=each.needed,
            placed=each.placed,
            waiting=each.waiting,
        )
        for each in found.members
    )


def _obstacle(each: core.Obstacle, pod: core.PodExplanation, reader: Reader) -> shown.ExplainedObstacle:
    of_node = each.code in _OF_NODES and each.subject != pod.name
    return shown.ExplainedObstacle(
        code=each.code.value,
        subject="" if of_node and not reader.names_others else each.subject,
        text=each.text,
        limit=_limit(each.limit) if each.limit is not None else None,
        needed=dict(each.needed),
        free=dict(each.free),
        short=dict(each.short),
        until=_moment(each.until),
        holders=_holders(each.holders, reader),
        others=_pods(each.others, reader),
    )


def _limit(limit: LimitState) -> shown.LimitFigures:
    key = limit.key
    return shown.LimitFigures(
        kind=key.kind.value,
        queue=key.path,
        name=key.name,
        resource=key.resource,
        max=limit.bound,
        needed=limit.needed,
        free=limit.free,
        short=limit.short,
    )


def _nodes(counts: core.NodeCounts, reader: Reader) -> shown.NodesSeen | None:
    if not (counts.judged or counts.left):
        return None
    return shown.NodesSeen(
        judged=counts.judged,
        left=counts.left,
        fitting=counts.fitting,
        unfit=dict(counts.unfit),
        nearest=counts.nearest if reader.names_others else "",
    )


def _preemption(part: core.Preempting, reader: Reader) -> shown.PreemptionOutlook:
    return shown.PreemptionOutlook(
        tried_at=_moment(part.tried_at),
        tried_next=_moment(part.tried_next),
        under_way=part.under_way,
        possible=part.possible,
        stop=part.stop.value if part.stop is not None else "",
        law=part.law,
        text=part.text,
        queue=part.queue,
        resource=part.resource,
        queues=tuple(shown.LawInQueue(queue=path, law=law, text=text) for path, law, text in part.queues),
        victims=_pods(part.victims, reader),
    )


# -- others --------------------------------------------------------------------------------------------------


def _before(found: Iterable[core.Ahead], reader: Reader) -> Iterator[shown.PodsBefore]:
    """Pods that go first. Applications of other namespaces are summed where the first of them stands."""
    rows: dict[tuple[str, str, str, str], int] = {}
    for each in found:
        app = each.application
        named = app is not None and reader.may_name(app.namespace)
        names = (app.namespace, app.name) if app is not None and named else ("", "")
        key = (each.why.value, str(each.queue), *names)
        rows[key] = rows.get(key, 0) + each.pods
    for (why, queue, namespace, application), pods in rows.items():
        yield shown.PodsBefore(why=why, queue=queue, namespace=namespace, application=application, pods=pods)


def _holders(found: Iterable[core.Holder], reader: Reader) -> tuple[shown.Others, ...]:
    rows = (
        shown.Others(queue=each.queue or "", namespace=each.namespace, name=each.name, amount=each.amount)
        for each in found
    )
    return _summed(rows, reader)


def _pods(found: Iterable[core.OtherPod], reader: Reader) -> tuple[shown.Others, ...]:
    rows = (shown.Others(queue=each.queue or "", namespace=each.namespace, name=each.name) for each in found)
    return _summed(rows, reader)


def _summed(found: Iterable[shown.Others], reader: Reader) -> tuple[shown.Others, ...]:
    """Rows with the names that the reader may read, and a row for all others of each queue."""
    named: list[shown.Others] = []
    counts, held = Counter[str](), Counter[str]()
    for each in found:
        if reader.may_name(each.namespace):
            named.append(each)
        else:
            counts[each.queue] += each.count
            held[each.queue] += each.amount
    sums = [shown.Others(queue=path, count=counts[path], amount=held[path]) for path in counts]
    return tuple(
        sorted((*named, *sums), key=lambda each: (-each.amount, each.queue, each.namespace, each.name))
    )


# -- changes -------------------------------------------------------------------------------------------------


def _remedies(view: LedgerView, found: core.Remedies, reader: Reader) -> shown.RemediesFound:
    return shown.RemediesFound(
        remedy=found.remedy.value,
        changes=tuple(_change(view, each, reader) for each in found.changes),
        beyond=tuple(each.value for each in found.beyond),
        trials=found.trials,
        exhausted=found.exhausted,
    )


def _change(view: LedgerView, change: Change, reader: Reader) -> shown.FreeingChange:
    return shown.FreeingChange(
        text=phrases.of_change(change),
        raises=tuple(
            shown.RaisedLimit(
                kind=each.key.kind.value,
                queue=each.key.path,
                name=each.key.name,
                resource=each.key.resource,
                by=each.by,
            )
            for each in change.raises
        ),
        node=amounts(change.node.allocatable) if change.node is not None else {},
        labels=dict(change.node.labels) if change.node is not None else {},
        ended=_pods(_ended(view, change.ended), reader),
    )


def _ended(view: LedgerView, uids: Sequence[PodUid]) -> Iterator[core.OtherPod]:
    for uid in uids:
        record = view.pod(uid)
        if record is not None:
            queue = view.queue_of(record)
            yield core.OtherPod(record.facts.namespace, record.facts.name, queue.path if queue else None)


def _moment(seconds: float | None) -> str:
    return moment_text(seconds) if seconds is not None else ""
