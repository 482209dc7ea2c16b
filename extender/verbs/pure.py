"""The verbs that only answer: filter, prioritize and preempt. Bytes in, bytes out.

What kube-scheduler asks is turned into a question to the engine. No decision is made here. Faults are raised;
only the HTTP middleware turns one into an answer. These verbs run on the scheduler's critical path and never
wait; see `extender.verbs.leading` for the one exception.
"""

from collections.abc import Callable

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
from extender.verbs.faults import CallFault, NotReady, Unshown
from extender.verbs.leading import Lead, NotLeading, Unled
from extender.wire.calls import extender_v1 as v1
from extender.wire.calls.refusal_cache import RefusalCache
from extender.wire.translate import pod_from, version_from

ENCODED_BYTES = 64 * 2**20
"""Memory for encoded refusals; one is about 80 bytes per node."""


class PureVerbs:
    """Answers for one engine.

    ``asked()`` is called before a call is looked at; ``confirming``: how what only bodies have shown is
    confirmed, None where bodies can only be true; ``waits_for()``: what is waited for before the lists, or
    an empty text.
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
        self._asked, self._confirming, self._lead = asked, confirming, lead or Unled()
        self._waits_for = waits_for
        self._refusals = RefusalCache(ENCODED_BYTES)
        #: Nodes that the last filter call took; 0 if it took none.
        self.nodes_taken = 0

    def filter(self, body: bytes) -> bytes:
        """Which of the nodes offered may be used: all, or none with the reason. Raises the faults."""
        self.nodes_taken = 0
        request = v1.node_request_from(body)
        if not self._is_ours(request.pod, request.raw_pod):
            return v1.accepted(request)
        verdict = self._engine.admit(PodUid(request.pod.metadata.uid), request.node_names)
        if isinstance(verdict, Admitted):
            self.nodes_taken = request.offered or len(self._engine.view.nodes)
        match verdict:
            case Admitted(_, besides) if besides:
                return v1.accepted_besides(request, frozenset(besides), NODE_RESERVED.text)
            case Admitted() | Ignored():
                return v1.accepted(request)
            case Refused(Refusal(Code.NODE_RESERVED), said, _):
                # Of single nodes: the others have reasons of their own.
                return v1.refused(request, v1.unresolvable_nodes(request.node_names(), said.text))
            case Refused(_, said, _):
                return v1.refused(request, self._unresolvable(request, said.text))
            case Faulted(message):
                raise CallFault(message)

    def prioritize(self, body: bytes) -> bytes:
        """A score for each of the nodes, or none: then the choice among them is kube-scheduler's own.

        A pod that filter would answer with a fault has none either; only a bad body is one here.
        """
        request = v1.node_request_from(body)
        try:
            ours = self._is_ours(request.pod, request.raw_pod)
        except CallFault:
            return v1.NO_PRIORITIES
        if not ours:
            return v1.NO_PRIORITIES
        match self._engine.score(PodUid(request.pod.metadata.uid), request.node_names()):
            case Scored(_, bands):
                return v1.priorities(bands)
            case Ignored() | Unscored():
                return v1.NO_PRIORITIES

    def preempt(self, body: bytes) -> bytes:
        """Whom to evict: for a pod of ours whom a plan names, for another what kube-scheduler would do.

        Nodes without victims are dropped.
        """
        request = v1.preempt_request_from(body)
        try:
            ours = self._is_ours(request.pod, request.raw_pod)
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
        """What kube-scheduler would do for a pod in no queue, as far as the settings let it."""
        named = {NodeName(node): [PodUid(uid) for uid in each.uids] for node, each in request.victims.items()}
        return {node: request.victims[node] for node in self._engine.unprotected(uid, named)}

    def _is_ours(self, pod: v1.PodHead, raw_pod: bytes) -> bool:
        """Whether queues decide about this pod; what the watch has not shown yet is learned from the body.

        Raises `NotReady` for a pod that is, or may be, ours before the caches are synced, and `NotLeading`
        for one that is while another instance admits (F-3).
        """
        self._asked()
        engine, meta = self._engine, pod.metadata
        uid = PodUid(meta.uid)
        record = engine.view.pod(uid)
        if record is None or record.facts.version < version_from(meta.resource_version):
            facts = _facts_from(raw_pod)
            v1.check_names(facts.namespace, facts.name, facts.uid)
            if not engine.view.synced:
                return self._is_ours_unsynced(facts)
            self._believe(facts, known=record is not None)
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

    def _believe(self, facts: PodFacts, *, known: bool) -> None:
        """Learn what a body says, for as long as nothing disproves it (F-18). Raises `Unshown`."""
        if self._confirming is not None and not (known or self._confirming.believes()):
            raise Unshown
        self._engine.learn(on.PodOffered(facts))
        if self._confirming is not None:
            self._confirming.believed(facts.uid)

    def _is_ours_unsynced(self, facts: PodFacts) -> bool:
        if self._engine.is_managed(facts) is not False:
            raise NotReady(self._waits_for())
        return False

    def _unresolvable(self, request: v1.NodeRequest, text: str) -> bytes:
        """Every node of the ledger and of the request, so that the count in the message stays the same."""
        view = self._engine.view
        offered = request.node_names()
        if all(map(view.nodes.__contains__, offered)):
            return self._refusals.encoded(text, view.node_set, view.nodes)
        return v1.unresolvable_nodes(dict.fromkeys([*view.nodes, *offered]), text)


def _most_important_first(plan: Plan) -> tuple[str, ...]:
    """As kube-scheduler lists victims (CONTRACT-4.1)."""
    victims = sorted(plan.victims, key=lambda each: (-each.priority, each.created, each.uid))
    return tuple(each.uid for each in victims)


def _facts_from(raw_pod: bytes) -> PodFacts:
    """Raises `BadBody` also for an amount or a time that cannot be read."""
    try:
        return pod_from(v1.whole_pod_from(raw_pod))
    except ValueError as error:
        raise v1.BadBody(str(error)) from error
