"""The verbs filter, prioritize and preempt: request bytes in, answer bytes out.

A call becomes a question to the engine. No decision is made here. Faults are raised, and the HTTP middleware
turns them into answers. These verbs are on kube-scheduler's critical path and never wait, with one exception:
see `extender.verbs.leading`.
"""

from collections.abc import Awaitable, Callable

from core.decisions.admission import NODE_RESERVED
from core.decisions.decision import (
    Admitted,
    Faulted,
    Ignored,
    Offered,
    Refused,
    Scored,
    Unscored,
    Vetoed,
    Withheld,
)
from core.decisions.preemption.receipts import Plan
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.reasons import Code, Refusal
from core.workload.pod import PodFacts
from extender.engine.engine import Engine
from extender.verbs.confirmation import Confirmation
from extender.verbs.faults import CallFault, NotReady, Unconfirmed
from extender.verbs.leading import Lead, NoLease, NotLeading, fenced
from extender.wire.calls import extender_v1 as v1
from extender.wire.calls.bodies import PodHead
from extender.wire.calls.refusal_cache import RefusalCache
from extender.wire.translate import pod_from, version_from

ENCODED_BYTES = 64 * 2**20
"""Bytes of memory for encoded refusals. One takes about 80 bytes per node."""


class PureVerbs:
    """Filter, prioritize and preempt calls of one engine.

    ``asked()``: called at the start of every call.
    ``confirming``: confirms pods known only from bodies. None where every body can be trusted.
    ``lead``: the Lease, None if none is configured.
    ``waits_for()``: the reason why the caches are not synced, or an empty text.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        asked: Callable[[], None] = lambda: None,
        confirming: Confirmation | None = None,
        lead: Lead | None = None,
        waits_for: Callable[[], str] = str,
    ) -> None:
        self._engine = engine
        self._asked, self._confirming, self._lead = asked, confirming, lead or NoLease()
        self._waits_for = waits_for
        self._refusals = RefusalCache(ENCODED_BYTES)
        #: Nodes that the last filter call took; 0 if it took none.
        self.nodes_taken = 0

    def fenced(
        self, timed_filter: Callable[[bytes], bytes]
    ) -> dict[str, Callable[[bytes], bytes | Awaitable[bytes]]]:
        """Return the verbs by name, each called again if a new leader finds that it holds the Lease.

        ``timed_filter``: calls `filter`.
        """
        return {
            "filter": fenced(timed_filter, self._lead),
            "prioritize": fenced(self.prioritize, self._lead, v1.NO_PRIORITIES),
            "preempt": fenced(self.preempt, self._lead, v1.NO_PREEMPTION),
        }

    def filter(self, body: bytes) -> bytes:
        """Accept all offered nodes, all but those reserved for other pods, or none with the reason.

        Raises `BadBody`, `CallFault` and `NotLeading`.
        """
        self.nodes_taken = 0
        request = v1.node_request_from(body)
        if not self._is_ours(request.pod, request.body):
            return v1.accepted(request)
        verdict = self._engine.admit(PodUid(request.pod.metadata.uid), request.node_names)
        if isinstance(verdict, Admitted):
            self.nodes_taken = request.offered or len(self._engine.view.nodes)
            if verdict.besides:
                return v1.accepted_besides(request, frozenset(verdict.besides), NODE_RESERVED.text)
            return v1.accepted(request)
        match verdict:
            case Ignored():
                return v1.accepted(request)
            case Refused(Refusal(Code.NODE_RESERVED), refusal, _):
                # Only the offered nodes are reserved. Other nodes were rejected for other reasons.
                return v1.refused(request, v1.unresolvable_nodes(request.node_names(), refusal.text))
            case Refused(_, refusal, _):
                return v1.refused(request, self._unresolvable(request, refusal.text))
            case Faulted(message):
                raise CallFault(message)

    def prioritize(self, body: bytes) -> bytes:
        """Score each node, or return no scores to leave the choice to kube-scheduler.

        A pod for which filter would raise a fault gets no scores. Raises `BadBody`.
        """
        request = v1.node_request_from(body)
        try:
            ours = self._is_ours(request.pod, request.body)
        except CallFault:
            return v1.NO_PRIORITIES
        if not ours:
            return v1.NO_PRIORITIES
        match self._engine.score(PodUid(request.pod.metadata.uid), request.node_name_set):
            case Scored(_, bands):
                return v1.priorities(bands, plain=request.is_plain)
            case Ignored() | Unscored():
                return v1.NO_PRIORITIES

    def preempt(self, body: bytes) -> bytes:
        """Choose the victims. Raises the faults that filter raises, except `NotReady`.

        For a managed pod they come from a plan. For any other pod they are kube-scheduler's own proposal.
        Nodes without victims are dropped.
        """
        request = v1.preempt_request_from(body)
        try:
            ours = self._is_ours(request.pod, request.body)
        except NotReady:
            return v1.NO_PREEMPTION
        uid, names = PodUid(request.pod.metadata.uid), [NodeName(name) for name in request.victims]
        if not ours:
            return v1.preemption(self._unprotected(uid, request))
        match self._engine.preempt(uid, names):
            case Offered(plan, violations):
                return v1.preemption({plan.node: v1.Victims(_most_important_first(plan), violations)})
            case Ignored():
                return v1.preemption(self._unprotected(uid, request))
            case Vetoed() | Withheld() | Faulted():
                return v1.NO_PREEMPTION

    def _unprotected(self, uid: PodUid, request: v1.PreemptRequest) -> dict[str, v1.Victims]:
        """The victims that kube-scheduler proposed for a pod in no queue, as far as the settings allow."""
        named = {NodeName(node): [PodUid(uid) for uid in each.uids] for node, each in request.victims.items()}
        return {node: request.victims[node] for node in self._engine.unprotected(uid, named)}

    def _is_ours(self, pod: PodHead, body: bytes) -> bool:
        """True if queues decide about this pod. A version that no watch has shown is learned from the body.

        Raises `NotReady` if the caches are not synced and the pod is, or may be, managed.
        Raises `NotLeading` for a managed pod if another instance holds the Lease (F-3).
        """
        self._asked()
        engine, meta = self._engine, pod.metadata
        uid = PodUid(meta.uid)
        record = engine.view.pod(uid)
        if record is None or record.facts.version < version_from(meta.resource_version):
            facts = _facts_from(body)
            v1.check_names(facts.namespace, facts.name, facts.uid)
            if facts.uid != uid:
                raise v1.BadBody("body has several Pods")
            if not engine.view.synced:
                return self._is_ours_unsynced(facts)
            self._learn_from_body(facts, known=record is not None)
            record = engine.view.pod(uid)
        if record is None:
            raise CallFault("pod is gone, or on a node")
        if (record.facts.namespace, record.facts.name) != (meta.namespace or "default", meta.name):
            raise CallFault(f"uid belongs to pod {record.facts.namespace}/{record.facts.name}")
        if record.membership.managed and not engine.view.synced:
            raise NotReady(self._waits_for())
        if record.membership.managed and not self._lead.held:
            raise NotLeading(self._lead.problem)
        return record.membership.managed

    def _learn_from_body(self, facts: PodFacts, *, known: bool) -> None:
        """Learn a pod's facts from a body until they are confirmed (F-18). Raises `Unconfirmed`."""
        if self._confirming is not None and not (known or self._confirming.accepts()):
            raise Unconfirmed
        self._engine.learn(on.PodOffered(facts))
        if self._confirming is not None:
            self._confirming.expect(facts.uid)

    def _is_ours_unsynced(self, facts: PodFacts) -> bool:
        if self._engine.is_managed(facts) is not False:
            raise NotReady(self._waits_for())
        return False

    def _unresolvable(self, request: v1.NodeRequest, text: str) -> bytes:
        """JSON with one reason for every node of the ledger and of the request."""
        # With all nodes, the count in kube-scheduler's message is the same for every call.
        view = self._engine.view
        offered = request.node_names()
        if all(map(view.nodes.__contains__, offered)):
            return self._refusals.encoded(text, view.node_set, view.nodes)
        return v1.unresolvable_nodes(dict.fromkeys([*view.nodes, *offered]), text)


def _most_important_first(plan: Plan) -> tuple[str, ...]:
    """Uids of the victims in kube-scheduler's order (CONTRACT-4.1)."""
    victims = sorted(plan.victims, key=lambda each: (-each.priority, each.created, each.uid))
    return tuple(each.uid for each in victims)


def _facts_from(body: bytes) -> PodFacts:
    """Facts of the pod in a body. Raises `BadBody`, also for an invalid amount or time."""
    try:
        return pod_from(v1.whole_pod_from(body))
    except ValueError as error:
        raise v1.BadBody(str(error)) from error
