"""The four verbs: bytes in, bytes out. What kube-scheduler asks is turned into a question to the engine.

No decision is made here. Faults are raised; only the HTTP middleware turns one into an answer. filter,
prioritize and preempt run on the scheduler's critical path and never wait; see `extender.verbs.leading` for
the one exception.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from core.decisions.admission import NODE_RESERVED
from core.decisions.decision import (
    Admitted,
    BindNow,
    BindWaits,
    BoundAlready,
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
from core.errors import PaddockError
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import PostBinding
from core.reasons import Code, Refusal
from core.workload.pod import PodFacts
from extender.engine.engine import Engine
from extender.verbs.confirmation import Confirming, why_unbindable
from extender.verbs.leading import Lead, NotLeading, Unled
from extender.verbs.waits import Waits
from extender.wire.calls import extender_v1 as v1
from extender.wire.calls.refusal_cache import RefusalCache
from extender.wire.translate import pod_from, version_from

ENCODED_BYTES = 64 * 2**20
"""Memory for encoded refusals; one is about 80 bytes per node."""

HUNG_UP = "the caller has hung up; nothing was sent"


class CallFault(PaddockError):
    """A call that cannot be answered as asked; the text reaches the pod's events."""


class NotReady(CallFault):
    """The caches are not synced, and the pod may be ours. ``why``: what is waited for, if not the lists."""

    def __init__(self, why: str = "") -> None:
        super().__init__(f"{Code.NOT_READY}: {why or 'Paddock has not read the cluster yet'}")


class Unshown(CallFault):
    """Nothing but the call's own body has shown the pod, and too much was said of pods that do not exist."""

    def __init__(self) -> None:
        super().__init__(f"{Code.NOT_READY}: the API server has not shown this pod to Paddock yet")


class DeadlinePassed(CallFault):
    """Our own deadline, which is shorter than the caller's."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a Binding ended. ``certain``: when not bound, whether it can still come about."""

    bound: bool
    certain: bool = True
    message: str = ""


class Binder(Protocol):
    """Who talks to the API server for a bind call."""

    async def post(self, binding: PostBinding, *, within: float) -> Outcome:
        """Post a Binding and see it through, for at most ``within`` seconds."""
        ...

    async def read_pod(self, namespace: str, name: str, *, within: float) -> PodFacts | None:
        """The pod as it is now, or None when there is none."""
        ...


class Verbs:
    """Answers for one engine. ``bind_deadline`` in seconds; ``synced`` is set when the caches are;
    ``asked()`` is called before a call is looked at; ``confirming``: how what only bodies have shown is
    confirmed, None where bodies can only be true."""

    def __init__(
        self,
        engine: Engine,
        binder: Binder,
        *,
        synced: asyncio.Event,
        bind_deadline: float = 100.0,
        asked: Callable[[], None] = lambda: None,
        confirming: Confirming | None = None,
        lead: Lead | None = None,
    ) -> None:
        self._engine = engine
        self._binder = binder
        self._synced = synced
        self._asked, self._confirming, self._lead = asked, confirming, lead or Unled()
        self.bind_deadline, self.waits_for = bind_deadline, ""
        self.waits = Waits()
        self._refusals = RefusalCache(ENCODED_BYTES)
        self._open: dict[PodUid, asyncio.Task[bytes]] = {}

    # -- filter, prioritize, preempt ------------------------------------------------------------------

    def filter(self, body: bytes) -> bytes:
        """Which of the nodes offered may be used: all, or none with the reason. Raises the faults."""
        request = v1.node_request_from(body)
        if not self._is_ours(request.pod, request.raw_pod):
            return v1.accepted(request)
        verdict = self._engine.admit(PodUid(request.pod.metadata.uid), request.node_names)
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
        record = engine.snapshot.pod(uid)
        if record is None or record.facts.version < version_from(meta.resource_version):
            facts = _facts_from(raw_pod)
            v1.check_names(facts.namespace, facts.name, facts.uid)
            if not engine.snapshot.synced:
                return self._is_ours_unsynced(facts)
            self._believe(facts, known=record is not None)
            record = engine.snapshot.pod(uid)
        if record is None:
            raise CallFault("pod is gone, or on a node")
        if (record.facts.namespace, record.facts.name) != (meta.namespace or "default", meta.name):
            raise CallFault(f"uid belongs to pod {record.facts.namespace}/{record.facts.name}")
        if record.managed and not engine.snapshot.synced:
            raise NotReady(self.waits_for)
        if record.managed and not self._lead.held:
            raise NotLeading(self._lead.problem)
        return record.managed

    def _believe(self, facts: PodFacts, *, known: bool) -> None:
        """Learn what a body says, for as long as nothing disproves it (F-18). Raises `Unshown`."""
        if self._confirming is not None and not (known or self._confirming.believes()):
            raise Unshown
        self._engine.learn(on.PodOffered(facts))
        if self._confirming is not None:
            self._confirming.believed(facts.uid)

    def _is_ours_unsynced(self, facts: PodFacts) -> bool:
        if self._engine.is_managed(facts) is not False:
            raise NotReady(self.waits_for)
        return False

    def _unresolvable(self, request: v1.NodeRequest, text: str) -> bytes:
        """Every node of the ledger and of the request, so that the count in the message stays the same."""
        snapshot = self._engine.snapshot
        offered = request.node_names()
        if all(map(snapshot.nodes.__contains__, offered)):
            return self._refusals.encoded(text, snapshot.node_set, snapshot.nodes)
        return v1.unresolvable_nodes(dict.fromkeys([*snapshot.nodes, *offered]), text)

    # -- bind -----------------------------------------------------------------------------------------------

    async def bind(self, body: bytes) -> bytes:
        """Bind a pod, or say why not. Idempotent: a second call for a pod waits for the first one's end.

        To be cancelled when its caller hangs up: then a wait for others ends and nothing is posted any more;
        what was sent is seen through.
        """
        request = v1.bind_request_from(body)
        self._asked()
        uid = PodUid(request.uid)
        loop = asyncio.get_running_loop()
        until, given_up = loop.time() + self.bind_deadline, asyncio.Event()
        while (before := self._open.get(uid)) is not None:
            await asyncio.wait([before])
        task = loop.create_task(self._bind(request, until, given_up))
        self._open[uid] = task
        # Not when this call ends: one that is given up leaves its Binding under way.
        task.add_done_callback(lambda ended: self._close(uid, ended, given_up=given_up))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            given_up.set()
            self.waits.end(uid, HUNG_UP)
            raise

    def _close(self, uid: PodUid, ended: asyncio.Task[bytes], *, given_up: asyncio.Event) -> None:
        del self._open[uid]
        error = None if ended.cancelled() else ended.exception()
        if given_up.is_set() and error is not None and not isinstance(error, PaddockError):
            # Nobody is left to whom the fault could be told; of a bug we must hear all the same.
            ended.get_loop().call_exception_handler({"message": "bug in a bind call", "exception": error})

    async def _bind(self, request: v1.BindRequest, until: float, given_up: asyncio.Event) -> bytes:
        loop = asyncio.get_running_loop()
        pod = await self._shown(request, until - loop.time())
        managed = self._engine.is_managed(pod) is not False
        if managed and not self._synced.is_set():
            await self._wait_until_synced(until - loop.time())
            pod = await self._shown(request, until - loop.time())
        if pod.node:
            return v1.BOUND
        if managed:
            return await self._bind_managed(request, until, given_up)
        outcome = await self._binder.post(_binding(request), within=_left(until, given_up))
        if not outcome.bound:
            raise CallFault(outcome.message)
        return v1.BOUND

    async def _shown(self, request: v1.BindRequest, within: float) -> PodFacts:
        """The pod as the API server has shown it, if it may be bound, or is bound there already (F-18).

        What the watch has shown is enough; else, or if that speaks against it, the pod is read. Raises
        `CallFault` for a pod that may not be bound.
        """
        engine, uid = self._engine, PodUid(request.uid)
        record = engine.snapshot.pod(uid)
        if record is not None and record.is_confirmed and not why_unbindable(record.facts, request):
            return record.facts
        if engine.snapshot.is_gone(uid):
            raise CallFault("pod is gone")
        facts = await self._binder.read_pod(request.namespace, request.name, within=within)
        why = why_unbindable(facts, request)
        if facts is None or why:
            raise CallFault(why)
        if engine.snapshot.synced:
            engine.learn(on.PodRead(facts))
        return facts

    async def _wait_until_synced(self, within: float) -> None:
        if self._synced.is_set():
            return
        try:
            await asyncio.wait_for(self._synced.wait(), within)
        except TimeoutError:
            raise NotReady(self.waits_for) from None

    async def _bind_managed(self, request: v1.BindRequest, until: float, given_up: asyncio.Event) -> bytes:
        uid = PodUid(request.uid)
        if not (self._lead.held or await self._lead.confirm()):
            raise NotLeading(self._lead.problem)
        # What can come to nothing only must not count among a group's members that wait, and when it fails
        # not end the reservation of a Binding that was sent before.
        _left(until, given_up)
        others = self.waits.begin(uid)
        try:
            return await self._bind_admitted(request, until, given_up, others)
        finally:
            self.waits.forget(uid, others)

    async def _bind_admitted(
        self, request: v1.BindRequest, until: float, given_up: asyncio.Event, others: "asyncio.Future[str]"
    ) -> bytes:
        uid = PodUid(request.uid)
        match self._engine.bind(uid, NodeName(request.node)):
            case BoundAlready():
                return v1.BOUND
            case Refused(_, said, _):
                raise CallFault(said.text)
            case Faulted(message):
                raise CallFault(message)
            case BindWaits():
                await self._wait_for(others, uid, until)
                return await self._see_through(_binding(request, fenced=True), until, given_up)
            case BindNow() | Ignored():
                return await self._see_through(_binding(request, fenced=True), until, given_up)

    async def _wait_for(self, others: "asyncio.Future[str]", uid: PodUid, until: float) -> None:
        """Until the group is complete. Raises `CallFault` when it will not be, and at our own deadline."""
        try:
            why = await asyncio.wait_for(others, until - asyncio.get_running_loop().time())
        except TimeoutError:
            self._engine.learn(on.BindFailed(uid, certain=True))
            raise DeadlinePassed("the time for this bind call is over; nothing was sent") from None
        if why == HUNG_UP:
            self._engine.learn(on.BindFailed(uid, certain=True))
        if why:
            raise CallFault(why)

    async def _see_through(self, binding: PostBinding, until: float, given_up: asyncio.Event) -> bytes:
        try:
            within = _left(until, given_up)
        except CallFault:
            self._engine.learn(on.BindFailed(binding.uid, certain=True))
            raise
        try:
            outcome = await self._binder.post(binding, within=within)
        except BaseException:
            self._engine.learn(on.BindFailed(binding.uid, certain=False))
            raise
        if outcome.bound:
            self._engine.learn(on.PodBound(binding.uid, binding.node))
            return v1.BOUND
        self._engine.learn(on.BindFailed(binding.uid, certain=outcome.certain))
        raise CallFault(outcome.message)


def _most_important_first(plan: Plan) -> tuple[str, ...]:
    """As kube-scheduler lists victims (contract 4.1)."""
    victims = sorted(plan.victims, key=lambda each: (-each.priority, each.created, each.uid))
    return tuple(each.uid for each in victims)


def _facts_from(raw_pod: bytes) -> PodFacts:
    """Raises `BadBody` also for an amount or a time that cannot be read."""
    try:
        return pod_from(v1.whole_pod_from(raw_pod))
    except ValueError as error:
        raise v1.BadBody(str(error)) from error


def _left(until: float, given_up: asyncio.Event) -> float:
    """Seconds to the deadline. Raises `CallFault` when a Binding must not be posted any more."""
    if given_up.is_set():
        raise CallFault(HUNG_UP)
    left = until - asyncio.get_running_loop().time()
    if left <= 0:
        raise DeadlinePassed("the time for this bind call is over; nothing was sent")
    return left


def _binding(request: v1.BindRequest, *, fenced: bool = False) -> PostBinding:
    return PostBinding(PodUid(request.uid), request.namespace, request.name, NodeName(request.node), fenced)
